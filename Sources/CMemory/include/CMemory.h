#pragma once

/* mallopt and malloc_trim. */
#include <malloc.h>

/* Lets go of the pages that hold the program's own code, and none of its libraries': what is needed is read from its file
 * again. Nothing writes to them, so that nothing is lost. */
void dogear_give_code_back(void);
