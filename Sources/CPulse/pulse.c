#include "CPulse.h"
#include <COpened.h>
#include <stdlib.h>

/* As <pulse/pulseaudio.h> declares them, whose package is large. */
typedef struct pa_threaded_mainloop pa_threaded_mainloop;
typedef struct pa_mainloop_api pa_mainloop_api;
typedef struct pa_context pa_context;
typedef struct pa_operation pa_operation;
typedef void (*pa_notify)(pa_context *context, void *data);
typedef void (*pa_event)(pa_context *context, int event, unsigned index, void *data);
enum { NO_AUTOSPAWN = 1, READY = 4, SINK_INPUTS = 4, FACILITY = 15, OF_SINK_INPUT = 2, KIND = 48, CHANGED = 16 };

pa_threaded_mainloop *pa_threaded_mainloop_new(void);
void pa_threaded_mainloop_free(pa_threaded_mainloop *loop);
int pa_threaded_mainloop_start(pa_threaded_mainloop *loop);
void pa_threaded_mainloop_stop(pa_threaded_mainloop *loop);
pa_mainloop_api *pa_threaded_mainloop_get_api(pa_threaded_mainloop *loop);
pa_context *pa_context_new(pa_mainloop_api *api, const char *name);
void pa_context_unref(pa_context *context);
int pa_context_connect(pa_context *context, const char *server, int flags, const void *spawn);
void pa_context_disconnect(pa_context *context);
int pa_context_get_state(const pa_context *context);
void pa_context_set_state_callback(pa_context *context, pa_notify callback, void *data);
void pa_context_set_subscribe_callback(pa_context *context, pa_event callback, void *data);
pa_operation *pa_context_subscribe(pa_context *context, int mask, void *done, void *data);
void pa_operation_unref(pa_operation *operation);

#define EACH(X) \
    X(pa_threaded_mainloop_new) X(pa_threaded_mainloop_free) X(pa_threaded_mainloop_start) \
    X(pa_threaded_mainloop_stop) X(pa_threaded_mainloop_get_api) X(pa_context_new) X(pa_context_unref) \
    X(pa_context_connect) X(pa_context_disconnect) X(pa_context_get_state) X(pa_context_set_state_callback) \
    X(pa_context_set_subscribe_callback) X(pa_context_subscribe) X(pa_operation_unref)

OPENED(dogear_pulse_trouble, "libpulse.so.0")

struct dogear_mixer_watch {
    pa_threaded_mainloop *loop;
    pa_context *context;
    void (*tell)(void *);
    void *data;
};

static void changed(pa_context *context, int event, unsigned index, void *data) {
    (void)context, (void)index;
    struct dogear_mixer_watch *watch = data;
    if ((event & FACILITY) == OF_SINK_INPUT && (event & KIND) == CHANGED) watch->tell(watch->data);
}

static void progressed(pa_context *context, void *data) {
    struct dogear_mixer_watch *watch = data;
    if (real.pa_context_get_state(context) != READY) return;
    real.pa_context_set_subscribe_callback(context, changed, watch);
    pa_operation *asked = real.pa_context_subscribe(context, SINK_INPUTS, NULL, NULL);
    if (asked) real.pa_operation_unref(asked);
    /* It may have changed before this was heard. */
    watch->tell(watch->data);
}

struct dogear_mixer_watch *dogear_mixer_watch_start(const char *server, void (*tell)(void *), void *data) {
    if (dogear_pulse_trouble()) return NULL;
    struct dogear_mixer_watch *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    watch->tell = tell;
    watch->data = data;
    watch->loop = real.pa_threaded_mainloop_new();
    if (watch->loop) watch->context = real.pa_context_new(real.pa_threaded_mainloop_get_api(watch->loop), "dogear");
    if (watch->context) {
        real.pa_context_set_state_callback(watch->context, progressed, watch);
        if (real.pa_context_connect(watch->context, server, NO_AUTOSPAWN, NULL) >= 0 &&
            real.pa_threaded_mainloop_start(watch->loop) >= 0)
            return watch;
    }
    dogear_mixer_watch_stop(watch);
    return NULL;
}

void dogear_mixer_watch_stop(struct dogear_mixer_watch *watch) {
    if (watch->loop) real.pa_threaded_mainloop_stop(watch->loop);
    if (watch->context) {
        /* Of its end nothing is told. */
        real.pa_context_set_state_callback(watch->context, NULL, NULL);
        real.pa_context_disconnect(watch->context);
        real.pa_context_unref(watch->context);
    }
    if (watch->loop) real.pa_threaded_mainloop_free(watch->loop);
    free(watch);
}
