internal import CSecret
internal import Listening

/// One connection to the Secret Service, for one request: made, used and freed on the thread "secret".
struct Session: ~Copyable {
    /// What GDBus has to deliver comes here rather than to a main loop, of which there is none.
    private let context: OpaquePointer
    private let limit: Limit
    private let bus: OpaquePointer
    private let service: UnsafeMutablePointer<SecretService>
    private let schema: UnsafeMutablePointer<SecretSchema>

    /// - Parameters:
    ///   - milliseconds: for everything.
    ///   - greeting: milliseconds until the service must have said that it is there.
    init(address: String?, milliseconds: Int, greeting: Int) throws(VaultError) {
        guard let address else { throw .absent }
        if let trouble = dogear_secret_trouble() { throw .unusable(reason: String(cString: trouble)) }
        let context = g_main_context_new()!
        g_main_context_push_thread_default(context)
        let limit = Limit(milliseconds: milliseconds)
        let greeting = Limit(milliseconds: min(milliseconds, greeting))
        do throws(VaultError) { (bus, service) = try Self.connect(address, greeting) } catch {
            Self.leave(context)
            throw error
        }
        self.context = context
        self.limit = limit
        self.schema = Self.schema()
    }

    /// Milliseconds: to be there takes nobody's password, so that who says nothing for so long hangs.
    static let longestGreeting = 12_000
    /// As long of one that has just been found to hang.
    static let shortGreeting = 2000

    private static func connect(
        _ address: String, _ limit: Limit
    ) throws(VaultError) -> (OpaquePointer, UnsafeMutablePointer<SecretService>) {
        let flags = GDBusConnectionFlags(
            rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        // Whatever keeps the bus from being reached, there is no Secret Service then.
        let bus = try attempt(otherwise: .absent) {
            g_dbus_connection_new_for_address_sync(address, flags, nil, limit.cancellable, $0)
        }
        do throws(VaultError) {
            return (bus, try attempt { dogear_secret_service_new(ServiceType.type, bus, limit.cancellable, $0) })
        } catch {
            close(bus)
            throw error
        }
    }

    deinit {
        secret_schema_unref(schema)
        g_object_unref(service)
        Self.close(bus)
        Self.leave(context)
    }

    private static func close(_ bus: OpaquePointer) {
        g_dbus_connection_close_sync(bus, nil, nil)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    private static func leave(_ context: OpaquePointer) {
        while g_main_context_iteration(context, gboolean(0)) != 0 {}
        g_main_context_pop_thread_default(context)
        g_main_context_unref(context)
    }

    private static func schema() -> UnsafeMutablePointer<SecretSchema> {
        let types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, nil)
        defer { g_hash_table_unref(types) }
        for name in ["account", "kind", "server", "user"] {
            // The value is the type: SECRET_SCHEMA_ATTRIBUTE_STRING is 0.
            g_hash_table_insert(types, g_strdup(name), nil)
        }
        return secret_schema_newv("org.dogear.Account", SECRET_SCHEMA_NONE, types)
    }

    func store(_ secret: String, attributes: [String: String], label: String) throws(VaultError) {
        let collection = try openCollection()
        defer { g_object_unref(collection) }
        let value = secret_value_new(secret, gssize(secret.utf8.count), "text/plain")!
        defer { secret_value_unref(UnsafeMutableRawPointer(value)) }  // wipes it
        let table = Self.table(attributes)
        defer { g_hash_table_unref(table) }
        let item = try attempt {
            secret_item_create_sync(
                collection, schema, table, label, value, SECRET_ITEM_CREATE_REPLACE, limit.cancellable, $0)
        }
        g_object_unref(item)
    }

    /// - Returns: the newest, if several keyrings have one; nil if none has.
    func secret(attributes: [String: String]) throws(VaultError) -> String? {
        let found = try search(attributes, loadSecrets: true)
        var newest: (secret: String, modified: UInt64)?
        var isLocked = false
        for item in found.items {
            guard secret_item_get_locked(item) == 0, let value = secret_item_get_secret(item) else {
                isLocked = true
                continue
            }
            defer { secret_value_unref(UnsafeMutableRawPointer(value)) }
            let modified = UInt64(secret_item_get_modified(item))
            guard let text = secret_value_get_text(value), modified >= newest?.modified ?? 0 else { continue }
            newest = (String(cString: text), modified)
        }
        if let newest { return newest.secret }
        if isLocked { throw .locked }
        // Services that keep even the names of things encrypted find nothing while they are locked.
        try requireUnlocked()
        return nil
    }

    func remove(attributes: [String: String]) throws(VaultError) {
        let found = try search(attributes, loadSecrets: false)
        var isLocked = false
        for item in found.items {
            if secret_item_get_locked(item) != 0 {
                isLocked = true
                continue
            }
            try require { secret_item_delete_sync(item, limit.cancellable, $0) }
        }
        if isLocked { throw .locked }
        if found.items.isEmpty { try requireUnlocked() }
    }

    private func requireUnlocked() throws(VaultError) {
        guard let collection = try defaultCollection() else { return }
        defer { g_object_unref(collection) }
        if secret_collection_get_locked(collection) != 0 { throw .locked }
    }

    func check() throws(VaultError) { g_object_unref(try openCollection()) }

    /// Where secrets are stored.
    private func openCollection() throws(VaultError) -> UnsafeMutablePointer<SecretCollection> {
        guard let collection = try defaultCollection() else {
            throw .refused(reason: "it has no default keyring yet; log in to the desktop or create one there")
        }
        // Asked for by itself: libsecret would open a window to unlock it.
        guard secret_collection_get_locked(collection) == 0 else {
            g_object_unref(collection)
            throw .locked
        }
        return collection
    }

    /// - Returns: nil if the service has none.
    private func defaultCollection() throws(VaultError) -> UnsafeMutablePointer<SecretCollection>? {
        var error: UnsafeMutablePointer<GError>?
        let collection = secret_collection_for_alias_sync(
            service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, limit.cancellable, &error)
        guard let error else { return collection }
        // gnome-keyring that was never unlocked names a collection that it does not have.
        let failure = Failure(consuming: error)
        if failure.isUnknownObject { return nil }
        throw failure.vaultError
    }

    private func search(_ attributes: [String: String], loadSecrets: Bool) throws(VaultError) -> Found {
        let table = Self.table(attributes)
        defer { g_hash_table_unref(table) }
        let load = loadSecrets ? SECRET_SEARCH_LOAD_SECRETS.rawValue : 0
        let flags = SecretSearchFlags(rawValue: SECRET_SEARCH_ALL.rawValue | load)
        var error: UnsafeMutablePointer<GError>?
        let list = secret_service_search_sync(service, schema, table, flags, limit.cancellable, &error)
        guard let error else { return Found(consuming: list) }
        // gnome-keyring may still tell of what was removed.
        let failure = Failure(consuming: error)
        if failure.isUnknownObject, loadSecrets { return Found(consuming: nil) }
        throw failure.vaultError
    }

    private static func table(_ attributes: [String: String]) -> OpaquePointer {
        let table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)!
        for (name, value) in attributes { g_hash_table_insert(table, g_strdup(name), g_strdup(value)) }
        return table
    }
}

/// Sole owner of a list of items that libsecret found.
private struct Found: ~Copyable {
    private let list: UnsafeMutablePointer<GList>?
    let items: [UnsafeMutablePointer<SecretItem>]

    init(consuming list: UnsafeMutablePointer<GList>?) {
        self.list = list
        var items: [UnsafeMutablePointer<SecretItem>] = []
        var link = list
        while let here = link {
            items.append(here.pointee.data.assumingMemoryBound(to: SecretItem.self))
            link = here.pointee.next
        }
        self.items = items
    }

    deinit { g_list_free_full(list, g_object_unref) }
}

/// Ends calls that wait for longer than the listener would: a prompt of the service's own that nobody answers.
private final class Limit: @unchecked Sendable {  // GCancellable is thread-safe, the rest does not change
    let cancellable: UnsafeMutablePointer<GCancellable> = g_cancellable_new()

    init(milliseconds: Int) {
        Task.detached { [weak self] in
            try? await Task.sleep(for: .milliseconds(milliseconds))
            self.map { g_cancellable_cancel($0.cancellable) }
        }
    }

    deinit { g_object_unref(cancellable) }
}
