#pragma once

/* GStreamer's pbutils, opened when a file is first looked into: they bring the libraries for video along. What CGStreamer
   declares of them and dogear calls is defined in pbutils.c. */

/* Why they cannot be used, or NULL once they are there; see COpened.h. */
const char *dogear_pbutils_trouble(void);
