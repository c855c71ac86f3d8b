#include "CSecret.h"
#include <COpened.h>

#define EACH(X) \
    X(g_cancellable_cancel) X(g_cancellable_new) X(g_dbus_connection_close_sync) \
    X(g_dbus_connection_new_for_address_sync) X(g_dbus_error_quark) X(g_dbus_error_strip_remote_error) \
    X(g_initable_new) X(g_io_error_quark) X(secret_collection_for_alias_sync) X(secret_collection_get_locked) \
    X(secret_error_get_quark) X(secret_item_create_sync) X(secret_item_delete_sync) X(secret_item_get_locked) \
    X(secret_item_get_modified) X(secret_item_get_secret) X(secret_schema_newv) X(secret_schema_unref) \
    X(secret_service_get_type) X(secret_service_search_sync) X(secret_value_get_text) X(secret_value_new) \
    X(secret_value_unref)

OPENED(dogear_secret_trouble, "libsecret-1.so.0")

FORWARD(void, g_cancellable_cancel, (GCancellable *cancellable), (cancellable))
FORWARD(GCancellable *, g_cancellable_new, (void), ())
FORWARD(gboolean, g_dbus_connection_close_sync, (GDBusConnection *bus, GCancellable *cancellable, GError **error),
        (bus, cancellable, error))
FORWARD(GDBusConnection *, g_dbus_connection_new_for_address_sync,
        (const gchar *address, GDBusConnectionFlags flags, GDBusAuthObserver *observer, GCancellable *cancellable,
         GError **error),
        (address, flags, observer, cancellable, error))
FORWARD(GQuark, g_dbus_error_quark, (void), ())
FORWARD(gboolean, g_dbus_error_strip_remote_error, (GError *error), (error))
FORWARD(GQuark, g_io_error_quark, (void), ())
FORWARD(SecretCollection *, secret_collection_for_alias_sync,
        (SecretService *service, const gchar *alias, SecretCollectionFlags flags, GCancellable *cancellable,
         GError **error),
        (service, alias, flags, cancellable, error))
FORWARD(gboolean, secret_collection_get_locked, (SecretCollection *collection), (collection))
FORWARD(GQuark, secret_error_get_quark, (void), ())
FORWARD(SecretItem *, secret_item_create_sync,
        (SecretCollection *collection, const SecretSchema *schema, GHashTable *attributes, const gchar *label,
         SecretValue *value, SecretItemCreateFlags flags, GCancellable *cancellable, GError **error),
        (collection, schema, attributes, label, value, flags, cancellable, error))
FORWARD(gboolean, secret_item_delete_sync, (SecretItem *item, GCancellable *cancellable, GError **error),
        (item, cancellable, error))
FORWARD(gboolean, secret_item_get_locked, (SecretItem *item), (item))
FORWARD(guint64, secret_item_get_modified, (SecretItem *item), (item))
FORWARD(SecretValue *, secret_item_get_secret, (SecretItem *item), (item))
FORWARD(SecretSchema *, secret_schema_newv, (const gchar *name, SecretSchemaFlags flags, GHashTable *types),
        (name, flags, types))
FORWARD(void, secret_schema_unref, (SecretSchema *schema), (schema))
FORWARD(GType, secret_service_get_type, (void), ())
FORWARD(GList *, secret_service_search_sync,
        (SecretService *service, const SecretSchema *schema, GHashTable *attributes, SecretSearchFlags flags,
         GCancellable *cancellable, GError **error),
        (service, schema, attributes, flags, cancellable, error))
FORWARD(const gchar *, secret_value_get_text, (SecretValue *value), (value))
FORWARD(SecretValue *, secret_value_new, (const gchar *secret, gssize length, const gchar *type),
        (secret, length, type))
FORWARD(void, secret_value_unref, (gpointer value), (value))

SecretService *dogear_secret_service_new(GType type, GDBusConnection *bus, GCancellable *cancellable, GError **error) {
    return (SecretService *)real.g_initable_new(
        type, cancellable, error,
        "g-connection", bus, "g-flags", G_DBUS_PROXY_FLAGS_NONE, "g-name", "org.freedesktop.secrets",
        "g-object-path", "/org/freedesktop/secrets", "g-interface-name", "org.freedesktop.Secret.Service",
        "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
}

void dogear_secret_service_no_bus_type(GObject *service) {
    g_object_set(service, "g-bus-type", G_BUS_TYPE_NONE, NULL);
}
