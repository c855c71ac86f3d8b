#include "COpened.h"
#include <dlfcn.h>
#include <stdio.h>

static void load(struct opened *library) {
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(library->trouble, sizeof library->trouble, "%s", dlerror());
        return;
    }
    for (unsigned index = 0; index < library->count; index++)
        if (!(library->pointers[index] = dlsym(handle, library->names[index])))
            snprintf(library->trouble, sizeof library->trouble, "%s has no %s: it is too old",
                     library->file, library->names[index]);
}

const char *opened_trouble(struct opened *library) {
    pthread_mutex_lock(&library->mutex);
    if (!library->is_open) load(library);
    library->is_open = 1;
    pthread_mutex_unlock(&library->mutex);
    return library->trouble[0] ? library->trouble : NULL;
}
