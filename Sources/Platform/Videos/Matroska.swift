/// An element of EBML (RFC 8794 §6): its id, its size, its content.
struct EBMLElement {
    let id: UInt64
    let start: Int64
    /// The position of the content.
    let content: Int64
    /// The declared end of the element, which may be behind the end of the file; nil when it is not declared.
    let end: Int64?

    /// Reads the element at a position within a parent; nil when there is none.
    init?(at start: Int64, before end: Int64, in file: VideoBytes) throws(VideoError) {
        try file.step()
        guard start < end, let first = try file.number(at: start, size: 1), first >= 0x10 else { return nil }
        // The first bit that is set gives the number of bytes (§5).
        let idSize = UInt8(first).leadingZeroBitCount + 1
        guard let id = try file.number(at: start, size: idSize),
            let mark = try file.number(at: start + Int64(idSize), size: 1), mark > 0
        else { return nil }
        let size = UInt8(mark).leadingZeroBitCount + 1
        guard let written = try file.number(at: start + Int64(idSize), size: size) else { return nil }
        let largest: UInt64 = 1 << UInt64(7 * size) - 1
        let length = written & largest
        self.id = id
        self.start = start
        content = start + Int64(idSize + size)
        self.end = length == largest ? nil : content + Int64(length)
    }

    /// Replaces the element by an empty one (Void, §11.3.2) of the same size.
    func blank(in file: VideoBytes) throws(VideoError) {
        // Only whole files and clusters may be of unknown size.
        guard let end else { throw .notAVideo }
        let total = end - start
        let width: Int64 = total < 9 ? 1 : 8
        let length = UInt64(total - 1 - width) | 1 << UInt64(7 * width)
        try file.write(
            [0xEC] + (0..<width).reversed().map { UInt8(truncatingIfNeeded: length >> UInt64(8 * $0)) }, at: start)
        try file.clear(start + 1 + width..<end)
    }
}

/// A WebM or Matroska file: RFC 9559.
struct MatroskaMovie {
    private enum ID {
        static let head: UInt64 = 0x1A45_DFA3
        static let segment: UInt64 = 0x1853_8067
        static let cluster: UInt64 = 0x1F43_B675
        static let tracks: UInt64 = 0x1654_AE6B
        static let trackEntry: UInt64 = 0xAE
        static let trackType: UInt64 = 0x83
        /// The elements that are kept in a segment, and in a cluster of unknown size: all but tags, attachments, empty
        /// elements, and checksums.
        static let kept: Set<UInt64> = [
            cluster, tracks,
            // SeekHead, Info, Cues and Chapters.
            0x114D_9B74, 0x1549_A966, 0x1C53_BB6B, 0x1043_A770,
            // Timestamp, Position, PrevSize, SimpleBlock, BlockGroup, EncryptedBlock and SilentTracks.
            0xE7, 0xA7, 0xAB, 0xA3, 0xA0, 0xAF, 0x5854,
        ]
    }

    private let file: VideoBytes
    private var hasVideo = false

    init(_ file: VideoBytes) { self.file = file }

    mutating func clean() throws(VideoError) {
        guard let head = try EBMLElement(at: 0, before: file.count, in: file), head.id == ID.head,
            var position = head.end
        else { throw .notAVideo }
        guard let segment = try EBMLElement(at: position, before: file.count, in: file), segment.id == ID.segment else {
            throw .notAVideo
        }
        let end = min(segment.end ?? file.count, file.count)
        position = segment.content
        while position < end {
            guard let element = try EBMLElement(at: position, before: end, in: file) else { break }
            if element.id == ID.cluster {
                // An element of unknown size ends where one begins that cannot be in it. Its children are checked in
                // the same way.
                position = element.end ?? element.content
                continue
            }
            guard let next = element.end else { throw .notAVideo }
            if element.id == ID.tracks { try look(at: element) }
            if !ID.kept.contains(element.id) { try element.blank(in: file) }
            position = next
        }
        guard hasVideo else { throw .notAVideo }
        // The rest is behind the end, or not an element, and players ignore it.
        if position < file.count { try file.clear(position..<file.count) }
    }

    /// Checks whether there is a video track (§5.1.4.1.3).
    private mutating func look(at tracks: EBMLElement) throws(VideoError) {
        var position = tracks.content
        let end = min(tracks.end ?? 0, file.count)
        while let entry = try EBMLElement(at: position, before: end, in: file), let entryEnd = entry.end {
            var inner = entry.content
            while entry.id == ID.trackEntry,
                let field = try EBMLElement(at: inner, before: min(entryEnd, end), in: file), let fieldEnd = field.end
            {
                if field.id == ID.trackType, 1...8 ~= fieldEnd - field.content,
                    try file.number(at: field.content, size: Int(fieldEnd - field.content)) == 1
                {
                    hasVideo = true
                }
                inner = fieldEnd
            }
            position = entryEnd
        }
    }
}
