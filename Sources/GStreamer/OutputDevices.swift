internal import CGStreamer

/// The devices that sound can come out of now.
enum OutputDevices {
    /// Asks the sound server, in some milliseconds.
    /// - Parameter name: as the sound server calls it.
    static func has(_ name: String) -> Bool {
        guard let monitor = gst_device_monitor_new() else { return true }
        defer { gst_object_unref(monitor) }
        gst_device_monitor_add_filter(monitor, "Audio/Sink", nil)
        let devices = gst_device_monitor_get_devices(monitor)
        defer { g_list_free_full(devices) { gst_object_unref($0) } }
        var isThere = false
        var node = devices
        while let device = node {
            // Only the sound servers' devices have names of this kind.
            if let object = device.pointee.data, dogear_has_property(object, "internal-name") != 0,
                let text = dogear_get_string(object, "internal-name")
            {
                isThere = isThere || String(cString: text) == name
                g_free(text)
            }
            node = device.pointee.next
        }
        return isThere
    }
}
