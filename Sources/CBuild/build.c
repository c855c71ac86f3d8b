#include "build.h"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const char *dogear_commit(void) {
#ifdef DOGEAR_COMMIT
    return TEXT(DOGEAR_COMMIT);
#else
    return "";
#endif
}
