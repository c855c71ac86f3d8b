import CGStreamer
import Testing

@testable import GStreamer

/// What a file on disk, which may be a list of addresses, can make GStreamer do.
@Suite struct AddressesTests {
    @Test func noFileCanMakeItAskAServer() {
        Library.ready
        for scheme in ["http", "https", "rtsp", "rtmp", "srt", "udp", "ftp", "smb"] {
            #expect(gst_element_make_from_uri(GST_URI_SRC, "\(scheme)://127.0.0.1:9/a", nil, nil) == nil, "\(scheme)")
        }
        let file = gst_element_make_from_uri(GST_URI_SRC, "file:///a", nil, nil)
        #expect(dogear_factory_name(file).map { String(cString: $0) } == "filesrc")
        if let file { gst_object_unref(gst_object_ref_sink(file)) }
    }
}
