#pragma once
#include <libsecret/secret.h>

/* libsecret and the GIO it is built on, opened when the keyring is first asked: their loading took an eighth of the time of
   each command. What their headers declare and dogear calls is defined in secret.c; GLib and GObject are linked. */

/* Why libsecret cannot be used, or NULL once it is there; see COpened.h. */
const char *dogear_secret_trouble(void);

/* g_initable_new is variadic. */
SecretService *dogear_secret_service_new(GType type, GDBusConnection *bus, GCancellable *cancellable, GError **error);

/* g_object_set is variadic; a property set while the object is being made. */
void dogear_secret_service_no_bus_type(GObject *service);
