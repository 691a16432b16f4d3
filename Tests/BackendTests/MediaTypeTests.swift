import Backend
import Testing

@Suite(.timeLimit(.minutes(30))) struct MediaTypeTests {
    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], MediaType.jpeg), ([0xFF, 0xD8], nil), (Array("GIF88a".utf8), nil),
            (Array("0000ftypM4V ".utf8), .mp4), (Array("0000ftypavif".utf8), nil), (Array("0000ftypmif1".utf8), .heic),
            (Array("0000ftypqt  ".utf8), .mov), (Array("RIFF0000WAVE".utf8), nil),
            ([0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42, 0x82, 0x88] + Array("matroska".utf8), nil),
            ([0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x84] + Array("webm".utf8), .webm),
            ([], nil),
            (Array("<svg".utf8), nil), (Array("%PDF".utf8), nil), (Array("BM".utf8), nil),
        ] as [([UInt8], MediaType?)])
    func aTypeIsRecognisedByItsFirstBytes(_ head: [UInt8], _ type: MediaType?) {
        #expect(MediaType(head: head) == type)
    }

    /// A QuickTime film needs no `ftyp`. Whether it is a film is seen when its tracks are read.
    @Test(arguments: ["wide", "mdat", "moov", "skip", "free", "pnot"])
    func quickTimeBeginsWithAnyBox(_ type: String) {
        #expect(MediaType(head: [0, 0, 0, 8] + Array(type.utf8)) == .mov)
        #expect(MediaType(head: [0, 0, 0, 8] + Array(type.uppercased().utf8)) == nil)
        #expect(MediaType(head: [0, 0, 0, 8] + Array(type.utf8.dropLast())) == nil)
    }

    /// The compatible brands tell a film, and no image: AVIF names a brand of HEIC's family among them.
    @Test(arguments: [
        ("XAVC", ["XAVC", "mp42"], MediaType.mp4), ("hvc1", ["hvc1", "mp42"], .mp4), ("3g2a", ["mp42"], .mp4),
        ("kddi", ["3g2a", "mp42"], .mp4), ("CAEP", ["abcd", "qt  "], .mov), ("abcd", ["qt  ", "isom"], .mov),
        ("heic", ["isom"], .heic), ("isom", ["qt  "], .mp4), ("avif", ["avif", "mif1", "miaf"], nil),
        ("abcd", ["efgh"], nil), ("abcd", [], nil),
    ])
    func compatibleBrandsCount(_ major: String, _ compatible: [String], _ type: MediaType?) {
        let content = Array(("ftyp" + major).utf8) + [0, 0, 2, 0] + compatible.flatMap { Array($0.utf8) }
        let box = [0, 0, 0, UInt8(4 + content.count)] + content
        #expect(MediaType(head: box) == type)
        // What follows the box names no brands.
        #expect(MediaType(head: box + Array("mp42".utf8)) == type)
    }
}
