#pragma once

/* mallopt and malloc_trim. */
#include <malloc.h>

/* Lets go of the pages that hold code and constants, of the program and of its libraries: what is needed is read from
 * their files again. Nothing writes to them, so that nothing is lost. */
void dogear_give_code_back(void);
