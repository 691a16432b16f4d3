import Backend
import Testing

@Suite(.timeLimit(.minutes(30))) struct MediaTypeTests {
    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], MediaType.jpeg), ([0xFF, 0xD8], nil), (Array("GIF88a".utf8), nil),
            (Array("0000ftypM4V ".utf8), .mp4), (Array("0000ftypavif".utf8), nil), (Array("0000ftypmif1".utf8), .heic),
            (Array("0000ftypqt  ".utf8), .mov), (Array("0000moov".utf8), nil), (Array("RIFF0000WAVE".utf8), nil),
            ([0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42, 0x82, 0x88] + Array("matroska".utf8), nil),
            ([0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x84] + Array("webm".utf8), .webm),
            ([], nil),
            (Array("<svg".utf8), nil), (Array("%PDF".utf8), nil), (Array("BM".utf8), nil),
        ] as [([UInt8], MediaType?)])
    func aTypeIsRecognisedByItsFirstBytes(_ head: [UInt8], _ type: MediaType?) {
        #expect(MediaType(head: head) == type)
    }
}
