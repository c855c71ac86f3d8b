import Testing

@testable import GStreamer

@Suite struct DrawingTests {
    @Test func aDrawingBecomesAPicture() throws {
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="#ff0000"/></svg>
            """
        let png = try Drawing.png(svg: Array(svg.utf8))
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(png[16..<24].elementsEqual([0, 0, 0, 40, 0, 0, 0, 30]), "width and height")
    }

    @Test(arguments: ["", "no drawing", "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect", "<html/>"])
    func whatIsNoneIsRefused(_ text: String) {
        #expect(throws: DrawingError.self) { try Drawing.png(svg: Array(text.utf8)) }
    }
}
