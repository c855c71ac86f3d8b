internal import CSecret
internal import Listening

/// What GLib says went wrong.
struct Failure {
    private let domain: GQuark
    private let code: Int
    private let message: String

    init(consuming error: UnsafeMutablePointer<GError>) {
        g_dbus_error_strip_remote_error(error)
        domain = error.pointee.domain
        code = Int(error.pointee.code)
        message = String(cString: error.pointee.message)
        g_error_free(error)
    }

    /// The service answers, but knows no such thing.
    var isUnknownObject: Bool {
        domain == g_dbus_error_quark()
            && [G_DBUS_ERROR_UNKNOWN_METHOD, G_DBUS_ERROR_UNKNOWN_OBJECT, G_DBUS_ERROR_UNKNOWN_INTERFACE]
                .contains { Int($0.rawValue) == code }
            || domain == secret_error_get_quark() && code == Int(SECRET_ERROR_NO_SUCH_OBJECT.rawValue)
    }

    static let silence = VaultError.refused(
        reason: "it does not answer; it may have asked you something in a window of its own")

    var vaultError: VaultError {
        switch domain {
        case secret_error_get_quark() where code == Int(SECRET_ERROR_IS_LOCKED.rawValue): .locked
        case g_dbus_error_quark() where Self.nobodyAnswers.contains(code): .absent
        case g_io_error_quark() where code == Int(G_IO_ERROR_CANCELLED.rawValue):
            Self.silence
        default: .refused(reason: message)
        }
    }

    /// Nothing owns the name, and nothing could be started that would.
    private static let nobodyAnswers: Set<Int> = Set(
        [
            G_DBUS_ERROR_SERVICE_UNKNOWN, G_DBUS_ERROR_NAME_HAS_NO_OWNER, G_DBUS_ERROR_SPAWN_EXEC_FAILED,
            G_DBUS_ERROR_SPAWN_FORK_FAILED, G_DBUS_ERROR_SPAWN_CHILD_EXITED, G_DBUS_ERROR_SPAWN_CHILD_SIGNALED,
            G_DBUS_ERROR_SPAWN_FAILED, G_DBUS_ERROR_SPAWN_SETUP_FAILED, G_DBUS_ERROR_SPAWN_CONFIG_INVALID,
            G_DBUS_ERROR_SPAWN_SERVICE_INVALID, G_DBUS_ERROR_SPAWN_SERVICE_NOT_FOUND,
            G_DBUS_ERROR_SPAWN_PERMISSIONS_INVALID, G_DBUS_ERROR_SPAWN_FILE_INVALID,
        ].map { Int($0.rawValue) })
}

/// Makes one call that gives an object or sets an error.
/// - Parameter otherwise: what any error means here, if not what it says itself.
func attempt<Object>(
    otherwise meaning: VaultError? = nil,
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Object?
) throws(VaultError) -> Object {
    var error: UnsafeMutablePointer<GError>?
    let object = call(&error)
    let failure = error.map { Failure(consuming: $0) }
    if let object { return object }
    throw meaning ?? failure?.vaultError ?? .refused(reason: "no reason given")
}

/// Makes one call that says yes or sets an error.
func require(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> gboolean
) throws(VaultError) {
    _ = try attempt { error in call(error) != 0 ? true : nil }
}
