#pragma once

/* mallopt and malloc_trim. */
#include <malloc.h>

/* Lets go of the pages that hold code and constants of the program, and, where that is wanted, of its libraries: what is
 * needed is read from their files again. Nothing but a debugger writes to them: only its breakpoints are lost. */
void dogear_give_code_back(int libraries);
