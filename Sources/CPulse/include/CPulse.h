#pragma once

/* What GStreamer's pulsesink tells only as it writes: that the volume of a stream may have changed. Of PulseAudio's client
   library, which pulsesink has loaded, by its stable interface: https://freedesktop.org/software/pulseaudio/doxygen/ */

struct dogear_mixer_watch;

/* Connects to the sound server, the usual one for NULL, on a thread of its own, and calls `tell` on that: once when it is
   connected, and for each change of any stream of anyone. `context` has to live until the watch is stopped. NULL: there is
   no such library, or no memory. */
struct dogear_mixer_watch *dogear_mixer_watch_start(
    const char *server, void (*tell)(void *context), void *context);

/* When it returns `tell` is not called any more. Not to be called from it. */
void dogear_mixer_watch_stop(struct dogear_mixer_watch *watch);
