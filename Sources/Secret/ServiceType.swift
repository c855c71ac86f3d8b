internal import CSecret

/// SecretService on a connection of our own.
///
/// libsecret's own keeps one object for the whole process, on the shared session bus connection, which ends the process
/// by a signal when the bus goes and which tests could not point elsewhere. Its constructor insists on that connection,
/// whatever it was given; this subclass takes the insistence back before the object is complete.
enum ServiceType {
    static let type: GType = {
        var query = GTypeQuery()
        g_type_query(secret_service_get_type(), &query)
        return g_type_register_static_simple(
            secret_service_get_type(), "DogearSecretService", query.class_size,
            { klass, _ in
                klass!.assumingMemoryBound(to: GObjectClass.self).pointee.constructor = { type, count, properties in
                    let parent = g_type_class_peek(secret_service_get_type())!
                    let object = parent.assumingMemoryBound(to: GObjectClass.self).pointee
                        .constructor(type, count, properties)
                    dogear_secret_service_no_bus_type(object)
                    return object
                }
            }, query.instance_size, nil, GTypeFlags(rawValue: 0))
    }()
}
