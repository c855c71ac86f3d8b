internal import CGStreamer
internal import EventLoop

/// Hears at once of devices that PulseAudio loses. A sink only notices when it is to deliver its next portion, which may be
/// half a second later.
///
/// GStreamer has one provider of these devices for the whole program; it is connected while something listens, beside the
/// gstreamer thread, for that takes some milliseconds.
actor DeviceWatch {
    typealias Listener = @Sendable (String) -> Void
    static let shared = DeviceWatch()
    nonisolated var unownedExecutor: UnownedSerialExecutor { Library.aside.asUnownedSerialExecutor() }

    /// Told the name of each, as the sound server calls it, on a thread of GStreamer's.
    private static let listener = Locked<(number: UInt64, tell: Listener)?>(nil)
    private var provider: UnsafeMutablePointer<GstDeviceProvider>?

    /// - Parameter number: of the load; one at a time listens, the last.
    func start(_ number: UInt64, _ tell: @escaping Listener) {
        // The server may be another one by now.
        disconnect()
        guard !Task.isCancelled else { return }
        Self.listener.withLock { $0 = (number, tell) }
        connect()
    }

    func stop(_ number: UInt64) {
        let isOver = Self.listener.withLock { listener in
            guard listener?.number == number else { return false }
            listener = nil
            return true
        }
        if isOver { disconnect() }
    }

    private func connect() {
        guard let provider = gst_device_provider_factory_get_by_name("pulsedeviceprovider") else { return }
        let bus = gst_device_provider_get_bus(provider)
        defer { gst_object_unref(bus) }
        gst_bus_set_sync_handler(
            bus,
            { _, message, _ in
                DeviceWatch.hear(message!)
                gst_message_unref(message)
                return GST_BUS_DROP
            }, nil, nil)
        if gst_device_provider_start(provider) != 0 { self.provider = provider } else { gst_object_unref(provider) }
    }

    private func disconnect() {
        guard let provider else { return }
        self.provider = nil
        gst_device_provider_stop(provider)
        gst_object_unref(provider)
    }

    private static func hear(_ message: UnsafeMutablePointer<GstMessage>) {
        guard dogear_message_type(message) == GST_MESSAGE_DEVICE_REMOVED else { return }
        var device: UnsafeMutablePointer<GstDevice>?
        gst_message_parse_device_removed(message, &device)
        guard let device else { return }
        defer { gst_object_unref(device) }
        guard let name = OutputDevices.name(of: device) else { return }
        listener.withLock { $0 }?.tell(name)
    }
}
