#pragma once

/* The commit this was built from, as the packaging scripts say it; "" for a build by hand. */
const char *dogear_commit(void);
