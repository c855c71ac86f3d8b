#pragma once
#include <pthread.h>

/* Libraries that are opened when they are needed: what they bring along would be loaded at every start of dogear, also of
   commands that need nothing of it.

   Whose header declares them, and who forwards them here, names the functions in a macro EACH(X), and then says once
       OPENED(dogear_thing_trouble, "libthing.so.1")
   which defines `real`, with a pointer to each of them, and `const char *dogear_thing_trouble(void)`: why the library
   cannot be used, or NULL once it is there. It opens it, may be called on any thread, and has to be called first. */

struct opened {
    const char *file;
    const char *const *names;
    void **pointers;
    unsigned count;
    pthread_mutex_t mutex;
    int is_open;
    char trouble[300];
};

const char *opened_trouble(struct opened *library);

#define OPENED_POINTER(name) __typeof__(&name) name;
#define OPENED_NAME(name) #name,
#define OPENED(trouble, file) \
    static struct { EACH(OPENED_POINTER) } real; \
    static const char *const names[] = {EACH(OPENED_NAME)}; \
    static struct opened library = { \
        file, names, (void **)&real, sizeof names / sizeof *names, PTHREAD_MUTEX_INITIALIZER, 0, ""}; \
    const char *trouble(void) { return opened_trouble(&library); }

#define FORWARD(type, name, parameters, arguments) \
    type name parameters { return real.name arguments; }
