import ObjectStore
import Testing

@Suite(.timeLimit(.minutes(30))) struct DownloadTests {
    @Test(arguments: [
        ("image/png", "image/png"), ("IMAGE/PNG", "image/png"), ("image/jpeg; q=1", "image/jpeg"),
        ("audio/ogg; codecs=opus", "audio/ogg"), ("audio/m4a", "audio/m4a"), ("video/mp4", "video/mp4"),
        (" video/mp4 ; x", "video/mp4"), ("application/pdf", "application/pdf"), ("Application/PDF", "application/pdf"),
        ("image/vnd.adobe.photoshop", "image/vnd.adobe.photoshop"),
    ])
    func `harmless types are served as they are`(given: String, served: String) {
        #expect(Download(filename: "a", contentType: given).contentType == served)
    }

    @Test(arguments: [
        "", "/", "image", "image/", "/png", "image/png/x", "image/svg+xml", "IMAGE/SVG+XML", "image/svg+xml; a=b",
        "image/x+xml", "video/x+xml", "text/html", "text/plain", "application/json", "application/xml",
        "application/javascript", "application/pdfx", "application/xhtml+xml", "multipart/mixed", "image/*", "*/*",
        "image/png\r\nSet-Cookie: a=b", "image/png\n", "image/p ng", "image/pñg", "image/png\0", "image/\u{212A}x",
        "text/html, image/png", "image/" + String(repeating: "a", count: 128),
    ])
    func `other types become a stream of bytes`(given: String) {
        #expect(Download(filename: "a", contentType: given).contentType == "application/octet-stream")
    }

    @Test(arguments: [
        ("cat.jpg", #"attachment; filename="cat.jpg"; filename*=UTF-8''cat.jpg"#),
        ("a b.txt", #"attachment; filename="a b.txt"; filename*=UTF-8''a%20b.txt"#),
        ("ä€🔑", #"attachment; filename="___"; filename*=UTF-8''%C3%A4%E2%82%AC%F0%9F%94%91"#),
        (#"q"u\o%41te.txt"#, #"attachment; filename="q_u_o_41te.txt"; filename*=UTF-8''q%22u%5Co%2541te.txt"#),
        ("a;b=c'd*(e)", #"attachment; filename="a;b=c'd*(e)"; filename*=UTF-8''a%3Bb%3Dc%27d%2A%28e%29"#),
        ("../../etc/passwd", #"attachment; filename=".._.._etc_passwd"; filename*=UTF-8''.._.._etc_passwd"#),
        (
            "a\r\nSet-Cookie: x\0\u{7F}\u{85}",
            #"attachment; filename="aSet-Cookie: x"; filename*=UTF-8''aSet-Cookie%3A%20x"#
        ),
        ("\u{202E}gpj.exe", #"attachment; filename="gpj.exe"; filename*=UTF-8''gpj.exe"#),
        ("", #"attachment; filename="file"; filename*=UTF-8''file"#),
        ("\r\n", #"attachment; filename="file"; filename*=UTF-8''file"#),
        ("!#$&+-.^_`|~", #"attachment; filename="!#$&+-.^_`|~"; filename*=UTF-8''!#$&+-.^_`|~"#),
    ])
    func `the header's value`(filename: String, value: String) {
        #expect(ContentDisposition.attachment(filename) == value)
        let inline = ContentDisposition.inline.fieldValue(filename: filename)
        #expect(inline == "inline" + value.dropFirst("attachment".count))
    }

    @Test func `no name breaks out of its quotes or out of the line`() throws {
        var generator = SeededGenerator(state: 5)
        let form = /attachment; filename="[ !#-\[\]-~]+"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+/
        for _ in 0..<5000 {
            var name = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                let limit: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x2FFFF
                name.append(UnicodeScalar(UInt32.random(in: 0...limit, using: &generator)) ?? "\r")
            }
            let value = ContentDisposition.attachment(String(name))
            #expect(value.wholeMatch(of: form) != nil, "\(Array(name).map(\.value)) gave \(value)")
        }
    }
}
