#pragma once
#include <gst/base/gstbasesrc.h>
#include <gst/gst.h>
#include <gst/pbutils/gstdiscoverer.h>
#include <gst/pbutils/missing-plugins.h>
#include <string.h>

// g_object_set and g_object_get are variadic: one wrapper per type of value.
static inline void dogear_set_string(void *object, const char *name, const char *value) {
    g_object_set(object, name, value, NULL);
}
static inline void dogear_set_double(void *object, const char *name, double value) {
    g_object_set(object, name, value, NULL);
}
static inline void dogear_set_int(void *object, const char *name, int value) {
    g_object_set(object, name, (gint)value, NULL);
}
static inline void dogear_set_bool(void *object, const char *name, gboolean value) {
    g_object_set(object, name, value, NULL);
}
static inline void dogear_set_object(void *object, const char *name, void *value) {
    g_object_set(object, name, value, NULL);
}
static inline void dogear_set_structure(void *object, const char *name, GstStructure *value) {
    g_object_set(object, name, value, NULL);
}
static inline int dogear_get_int(void *object, const char *name) {
    gint value = 0;
    g_object_get(object, name, &value, NULL);
    return value;
}
static inline gboolean dogear_get_bool(void *object, const char *name) {
    gboolean value = FALSE;
    g_object_get(object, name, &value, NULL);
    return value;
}
static inline void dogear_set_int64(void *object, const char *name, gint64 value) {
    g_object_set(object, name, value, NULL);
}
static inline gint64 dogear_get_int64(void *object, const char *name) {
    gint64 value = 0;
    g_object_get(object, name, &value, NULL);
    return value;
}
static inline double dogear_get_double(void *object, const char *name) {
    gdouble value = 0;
    g_object_get(object, name, &value, NULL);
    return value;
}
static inline char *dogear_get_string(void *object, const char *name) {  // g_free it
    gchar *value = NULL;
    g_object_get(object, name, &value, NULL);
    return value;
}
static inline int dogear_has_property(void *object, const char *name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(object), name) != NULL;
}

static inline void dogear_structure_set_string(GstStructure *structure, const char *field, const char *value) {
    gst_structure_set(structure, field, G_TYPE_STRING, value, NULL);
}

// A source of our own: Swift fills in its class.
typedef struct {
    GstBaseSrc parent;
    void *feed;
} DogearSource;

// Kinds of elements are macros with shifts.
static inline GstElementFactoryListType dogear_type_decoder(void) { return GST_ELEMENT_FACTORY_TYPE_DECODER; }
static inline GstElementFactoryListType dogear_type_demuxer(void) { return GST_ELEMENT_FACTORY_TYPE_DEMUXER; }

static inline int dogear_is_sink(GstElement *element) {
    return GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK) && !GST_IS_BIN(element);
}
// An element that plays, not one that writes into a file: its class is "Sink/Audio", "Audio/Sink", "Sink/Audio/Video".
static inline int dogear_is_audio_sink(GstElement *element) {
    const char *kind = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
    return GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK) && kind && strstr(kind, "Audio");
}
static inline int dogear_is_closed(GstElement *element) { return GST_STATE(element) == GST_STATE_NULL; }
// Another thread is changing the state of the element, or on its way through the pad.
static inline int dogear_is_entered(GstElement *element, GstPad *pad) {
    if (!g_rec_mutex_trylock(&element->state_lock)) return 1;
    g_rec_mutex_unlock(&element->state_lock);
    if (!g_rec_mutex_trylock(GST_PAD_GET_STREAM_LOCK(pad))) return 1;
    g_rec_mutex_unlock(GST_PAD_GET_STREAM_LOCK(pad));
    return 0;
}
static inline int dogear_is_playing(GstElement *element) { return GST_STATE(element) == GST_STATE_PLAYING; }

// Signals: a macro and a cast in C.
static inline void dogear_connect(void *object, const char *signal, GCallback callback, void *context) {
    g_signal_connect(object, signal, callback, context);
}

// Probes see events and buffers through macros and a union.
static inline GstEvent *dogear_probe_event(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_EVENT(info); }
static inline GstBuffer *dogear_probe_buffer(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_BUFFER(info); }
static inline void dogear_probe_replace_event(GstPadProbeInfo *info, GstEvent *event) {
    gst_event_unref(GST_PAD_PROBE_INFO_EVENT(info));
    GST_PAD_PROBE_INFO_DATA(info) = event;
}
static inline int dogear_buffer_is_gap(GstBuffer *buffer) { return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP); }
static inline GstEventType dogear_event_type(GstEvent *event) { return GST_EVENT_TYPE(event); }
static inline GstMessageType dogear_message_type(GstMessage *message) { return GST_MESSAGE_TYPE(message); }
static inline GstObject *dogear_message_source(GstMessage *message) { return GST_MESSAGE_SRC(message); }

// Error quarks are macros.
static inline GQuark dogear_core_error(void) { return GST_CORE_ERROR; }
static inline GQuark dogear_resource_error(void) { return GST_RESOURCE_ERROR; }
static inline GQuark dogear_stream_error(void) { return GST_STREAM_ERROR; }

static inline void dogear_rank_above(void *factory, void *other) {
    gst_plugin_feature_set_rank(factory, gst_plugin_feature_get_rank(other) + 1);
}

// Opens addresses of what lies elsewhere: not files, nor what the address itself holds.
static inline int dogear_is_remote(void *factory) {
    const gchar *const *schemes = gst_element_factory_get_uri_protocols(factory);
    if (gst_element_factory_get_uri_type(factory) != GST_URI_SRC || !schemes) return 0;
    while (*schemes && (!strcmp(*schemes, "file") || !strcmp(*schemes, "data"))) schemes++;
    return *schemes != NULL;
}

static inline void dogear_remove_feature(void *factory) {
    gst_registry_remove_feature(gst_registry_get(), GST_PLUGIN_FEATURE(factory));
}

// The factory's name of an element, such as "filesrc"; NULL if `object` is none.
static inline const char *dogear_factory_name(void *object) {
    if (!object || !GST_IS_ELEMENT(object)) return NULL;
    GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT(object));
    return factory ? gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory)) : NULL;
}

// What a sink got last; gst_sample_unref it. NULL if nothing.
static inline GstSample *dogear_last_sample(void *sink) {
    GstSample *sample = NULL;
    g_object_get(sink, "last-sample", &sample, NULL);
    return sample;
}
