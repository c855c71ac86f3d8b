#pragma once
#include <libsecret/secret.h>

// g_initable_new is variadic.
static inline SecretService *dogear_secret_service_new(
    GType type, GDBusConnection *bus, GCancellable *cancellable, GError **error) {
    return (SecretService *)g_initable_new(
        type, cancellable, error,
        "g-connection", bus, "g-flags", G_DBUS_PROXY_FLAGS_NONE, "g-name", "org.freedesktop.secrets",
        "g-object-path", "/org/freedesktop/secrets", "g-interface-name", "org.freedesktop.Secret.Service",
        "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
}

// g_object_set is variadic; a property set while the object is being made.
static inline void dogear_secret_service_no_bus_type(GObject *service) {
    g_object_set(service, "g-bus-type", G_BUS_TYPE_NONE, NULL);
}
