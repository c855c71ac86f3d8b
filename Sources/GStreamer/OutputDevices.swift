internal import CGStreamer

/// The devices that sound can come out of now.
enum OutputDevices {
    /// Asks the sound server, in some milliseconds.
    /// - Parameter name: as the sound server calls it.
    static func has(_ name: String) -> Bool {
        // Not by a GstDeviceMonitor: when it is let go, the provider's messages reach nobody any more (seen in 1.22).
        guard let provider = gst_device_provider_factory_get_by_name("pulsedeviceprovider") else { return true }
        defer { gst_object_unref(provider) }
        let devices = gst_device_provider_get_devices(provider)
        defer { g_list_free_full(devices) { gst_object_unref($0) } }
        var isThere = false
        var node = devices
        while let device = node {
            isThere = isThere || device.pointee.data.flatMap(Self.name) == name
            node = device.pointee.next
        }
        return isThere
    }

    /// As the sound server calls it; only the sound servers' devices have names of this kind.
    static func name(of device: UnsafeMutableRawPointer) -> String? {
        dogear_has_property(device, "internal-name") != 0 ? text("internal-name", of: device) : nil
    }
}
