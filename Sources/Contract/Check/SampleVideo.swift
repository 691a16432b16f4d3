/// Videos for uploads: valid containers of a few hundred bytes, with one track and no content.
public enum SampleVideo {
    public static let mp4 = box("ftyp", Array("isom".utf8) + word(512) + Array("isomiso2".utf8)) + movie() + media
    public static let mov = box("ftyp", Array("qt  ".utf8) + word(512) + Array("qt  ".utf8)) + movie() + media
    /// A header, a segment with one track, and a cluster with one frame.
    public static let webm =
        element([0x1A, 0x45, 0xDF, 0xA3], [0x42, 0x82, 0x84] + Array("webm".utf8))
        + segment(tracks() + cluster)

    // MARK: ISO/IEC 14496-12

    public static let media = box("mdat", Array("pixels".utf8))

    /// Returns a box. Each character of its type is one byte, as in Latin-1.
    public static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        word(8 + content.count) + type.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + content
    }

    /// Returns 32 bits, most significant first.
    public static func word(_ value: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns a movie with one track.
    ///
    /// - Parameters:
    ///   - more: Boxes after the track.
    ///   - inTrack: Boxes after the required ones of the track.
    public static func movie(_ more: [UInt8] = [], inTrack: [UInt8] = []) -> [UInt8] {
        box("moov", box("mvhd", zeros(100)) + track(1, handler: "vide", more: inTrack) + more)
    }

    /// Returns a track.
    ///
    /// - Parameter chunks: The offsets and sizes of its samples.
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

    /// Returns an element of EBML (RFC 8794) with a size of eight bytes.
    public static func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
        id + [1] + zeros(3) + word(content.count) + content
    }

    /// Returns an element without a size, which continues until an element begins that cannot be inside it.
    public static func endless(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
        id + [1] + Array(repeating: 0xFF, count: 7) + content
    }

    public static func segment(_ content: [UInt8]) -> [UInt8] { element([0x18, 0x53, 0x80, 0x67], content) }

    /// Returns the element of tracks.
    ///
    /// - Parameter kind: 1 for video, 2 for sound.
    public static func tracks(kind: UInt8 = 1) -> [UInt8] {
        element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], element([0xD7], [1]) + element([0x83], [kind])))
    }

    public static let cluster = element([0x1F, 0x43, 0xB6, 0x75], frames)
    /// The content of a cluster: its time, and a frame.
    public static let frames = element([0xE7], [0]) + element([0xA3], [0x81, 0, 0, 0x80] + Array("pixels".utf8))
}
