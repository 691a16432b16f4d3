/// Videos to upload: whole containers with one video track, in a few hundred bytes, and nothing to see.
public enum SampleVideo {
    public static let mp4 = box("ftyp", Array("isom".utf8) + word(512) + Array("isomiso2".utf8)) + movie() + media
    public static let mov = box("ftyp", Array("qt  ".utf8) + word(512) + Array("qt  ".utf8)) + movie() + media
    /// A head, a segment with one track, and a cluster with one frame.
    public static let webm =
        element([0x1A, 0x45, 0xDF, 0xA3], [0x42, 0x82, 0x84] + Array("webm".utf8))
        + segment(tracks() + cluster)

    // MARK: ISO/IEC 14496-12

    public static let media = box("mdat", Array("pixels".utf8))

    /// A box. Of its type each character is a byte, as in Latin-1.
    public static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        word(8 + content.count) + type.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + content
    }

    /// 32 bits, the most significant first.
    public static func word(_ value: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// - Parameters:
    ///   - more: Boxes behind the track.
    ///   - inTrack: Boxes behind what a track must have.
    public static func movie(_ more: [UInt8] = [], inTrack: [UInt8] = []) -> [UInt8] {
        box("moov", box("mvhd", zeros(100)) + track(1, handler: "vide", more: inTrack) + more)
    }

    /// A track of samples.
    ///
    /// - Parameter chunks: Where its samples are, and how many bytes each has.
    public static func track(
        _ id: Int, handler: String, chunks: [(offset: Int, size: Int)] = [], more: [UInt8] = []
    ) -> [UInt8] {
        let description = box("stsd", word(0) + word(1) + box("avc1", zeros(78)))
        let table =
            description + box("stts", word(0) + word(0))
            + box("stsc", word(0) + word(1) + word(1) + word(1) + word(1))
            + box("stsz", word(0) + word(0) + word(chunks.count) + chunks.flatMap { word($0.size) })
            + box("stco", word(0) + word(chunks.count) + chunks.flatMap { word($0.offset) })
        let media =
            box("mdhd", zeros(24)) + box("hdlr", zeros(8) + Array(handler.utf8) + zeros(13))
            + box("minf", box("vmhd", zeros(12)) + box("stbl", table))
        return box("trak", box("tkhd", zeros(12) + word(id) + zeros(68)) + box("mdia", media) + more)
    }

    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    // MARK: RFC 9559

    /// An element of EBML (RFC 8794), with eight bytes for its size.
    public static func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
        id + [1] + zeros(3) + word(content.count) + content
    }

    /// An element without a size: it goes on until something begins that cannot be in it.
    public static func endless(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
        id + [1] + Array(repeating: 0xFF, count: 7) + content
    }

    public static func segment(_ content: [UInt8]) -> [UInt8] { element([0x18, 0x53, 0x80, 0x67], content) }

    /// - Parameter kind: 1 for video, 2 for sound.
    public static func tracks(kind: UInt8 = 1) -> [UInt8] {
        element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], element([0xD7], [1]) + element([0x83], [kind])))
    }

    public static let cluster = element([0x1F, 0x43, 0xB6, 0x75], frames)
    /// What a cluster holds: when it begins, and a frame.
    public static let frames = element([0xE7], [0]) + element([0xA3], [0x81, 0, 0, 0x80] + Array("pixels".utf8))
}
