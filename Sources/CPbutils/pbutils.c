#include "../CGStreamer/shim.h"
#include "CPbutils.h"
#include <COpened.h>

#define EACH(X) \
    X(gst_discoverer_discover_uri) X(gst_discoverer_info_get_audio_streams) X(gst_discoverer_info_get_duration) \
    X(gst_discoverer_info_get_missing_elements_installer_details) X(gst_discoverer_info_get_result) \
    X(gst_discoverer_info_get_tags) X(gst_discoverer_info_get_toc) X(gst_discoverer_new) \
    X(gst_discoverer_stream_info_get_tags) X(gst_discoverer_stream_info_list_free) X(gst_is_missing_plugin_message) \
    X(gst_missing_plugin_message_get_description) X(gst_missing_plugin_message_get_installer_detail)

OPENED(dogear_pbutils_trouble, "libgstpbutils-1.0.so.0")

FORWARD(GstDiscovererInfo *, gst_discoverer_discover_uri, (GstDiscoverer *discoverer, const gchar *uri, GError **error),
        (discoverer, uri, error))
FORWARD(GList *, gst_discoverer_info_get_audio_streams, (GstDiscovererInfo *info), (info))
FORWARD(GstClockTime, gst_discoverer_info_get_duration, (const GstDiscovererInfo *info), (info))
FORWARD(const gchar **, gst_discoverer_info_get_missing_elements_installer_details, (const GstDiscovererInfo *info),
        (info))
FORWARD(GstDiscovererResult, gst_discoverer_info_get_result, (const GstDiscovererInfo *info), (info))
FORWARD(const GstTagList *, gst_discoverer_info_get_tags, (const GstDiscovererInfo *info), (info))
FORWARD(const GstToc *, gst_discoverer_info_get_toc, (const GstDiscovererInfo *info), (info))
FORWARD(GstDiscoverer *, gst_discoverer_new, (GstClockTime limit, GError **error), (limit, error))
FORWARD(const GstTagList *, gst_discoverer_stream_info_get_tags, (GstDiscovererStreamInfo *stream), (stream))
FORWARD(void, gst_discoverer_stream_info_list_free, (GList *streams), (streams))
FORWARD(gboolean, gst_is_missing_plugin_message, (GstMessage *message), (message))
FORWARD(gchar *, gst_missing_plugin_message_get_description, (GstMessage *message), (message))
FORWARD(gchar *, gst_missing_plugin_message_get_installer_detail, (GstMessage *message), (message))
