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
///
/// Tags and attachments become empty elements, and so do tracks of subtitles and metadata with their blocks, because
/// they may give the place of each second.
struct MatroskaMovie {
    private enum ID {
        static let head: UInt64 = 0x1A45_DFA3
        static let segment: UInt64 = 0x1853_8067
        static let cluster: UInt64 = 0x1F43_B675
        static let tracks: UInt64 = 0x1654_AE6B
        static let trackEntry: UInt64 = 0xAE
        static let trackNumber: UInt64 = 0xD7
        static let trackType: UInt64 = 0x83
        static let simpleBlock: UInt64 = 0xA3
        static let blockGroup: UInt64 = 0xA0
        static let block: UInt64 = 0xA1
        static let checksum: UInt64 = 0xBF
        /// The elements that are kept in a segment, and in a cluster of unknown size: all but tags, attachments, empty
        /// elements, and checksums.
        static let kept: Set<UInt64> = [
            cluster, tracks, blockGroup, simpleBlock,
            // SeekHead, Info, Cues and Chapters.
            0x114D_9B74, 0x1549_A966, 0x1C53_BB6B, 0x1043_A770,
            // Timestamp, Position, PrevSize, EncryptedBlock and SilentTracks.
            0xE7, 0xA7, 0xAB, 0xAF, 0x5854,
        ]
    }

    /// The types of tracks (§5.1.4.1.3) that stay: video, sound, both, and pictures over the video.
    private static let keptTypes: Set<UInt64> = [1, 2, 3, 16]

    private let file: VideoBytes
    private var hasVideo = false
    private var keptTracks: Set<UInt64> = []
    private var removedTracks: Set<UInt64> = []

    init(_ file: VideoBytes) { self.file = file }

    mutating func clean() throws(VideoError) {
        guard let head = try EBMLElement(at: 0, before: file.count, in: file), head.id == ID.head,
            let start = head.end
        else { throw .notAVideo }
        guard let segment = try EBMLElement(at: start, before: file.count, in: file), segment.id == ID.segment else {
            throw .notAVideo
        }
        let content = segment.content..<max(segment.content, min(segment.end ?? file.count, file.count))
        var position = content.lowerBound
        while position < content.upperBound {
            guard let element = try EBMLElement(at: position, before: content.upperBound, in: file) else { break }
            if element.id == ID.cluster {
                // An element of unknown size ends where one begins that cannot be in it. Its children are checked in
                // the same way.
                position = element.end ?? element.content
                continue
            }
            guard let next = element.end else { throw .notAVideo }
            if element.id == ID.tracks { try clean(tracks: element) }
            if !ID.kept.contains(element.id) { try element.blank(in: file) }
            position = next
        }
        guard hasVideo else { throw .notAVideo }
        // The rest is behind the end, or not an element, and players ignore it.
        if position < file.count { try file.clear(position..<file.count) }
        // A number that a kept track has too is that track's.
        removedTracks.subtract(keptTracks)
        if !removedTracks.isEmpty { try removeBlocks(in: content) }
    }

    /// Removes the tracks of subtitles and metadata.
    private mutating func clean(tracks: EBMLElement) throws(VideoError) {
        let end = min(tracks.end ?? 0, file.count)
        var position = tracks.content
        while let entry = try EBMLElement(at: position, before: end, in: file), let next = entry.end {
            if entry.id == ID.trackEntry {
                let fields = entry.content..<max(entry.content, min(next, end))
                let type = try number(ID.trackType, in: fields) ?? 0
                let track = try number(ID.trackNumber, in: fields)
                if type == 1 { hasVideo = true }
                if Self.keptTypes.contains(type) {
                    if let track { keptTracks.insert(track) }
                } else {
                    if let track { removedTracks.insert(track) }
                    try entry.blank(in: file)
                }
            }
            position = next
        }
        if !removedTracks.isEmpty { try removeChecksum(of: tracks) }
    }

    /// Removes the checksum of an element whose content has changed.
    private func removeChecksum(of parent: EBMLElement) throws(VideoError) {
        // A checksum is the first child (RFC 8794 §11.3.1).
        let end = min(parent.end ?? file.count, file.count)
        guard let first = try EBMLElement(at: parent.content, before: end, in: file), first.id == ID.checksum else {
            return
        }
        try first.blank(in: file)
    }

    /// Removes the blocks of removed tracks from clusters, and from what follows the beginning of a cluster of unknown
    /// size.
    private func removeBlocks(in range: Range<Int64>) throws(VideoError) {
        var position = range.lowerBound
        while let element = try EBMLElement(at: position, before: range.upperBound, in: file) {
            switch element.id {
            case ID.cluster:
                try removeChecksum(of: element)
                guard let end = element.end else {
                    position = element.content
                    continue
                }
                let content = element.content..<max(element.content, min(end, range.upperBound))
                try removeBlocks(inCluster: content)
            case ID.simpleBlock where try isRemoved(element), ID.blockGroup where try hasRemovedBlock(element):
                try element.blank(in: file)
            default: break
            }
            guard let end = element.end else { return }
            position = end
        }
    }

    private func removeBlocks(inCluster range: Range<Int64>) throws(VideoError) {
        var position = range.lowerBound
        while let element = try EBMLElement(at: position, before: range.upperBound, in: file), let end = element.end {
            switch element.id {
            case ID.simpleBlock where try isRemoved(element), ID.blockGroup where try hasRemovedBlock(element):
                try element.blank(in: file)
            default: break
            }
            position = end
        }
    }

    /// Returns whether a block is one of a removed track. It begins with the track's number, as sizes are written
    /// (§10.1).
    private func isRemoved(_ block: EBMLElement) throws(VideoError) -> Bool {
        guard let mark = try file.number(at: block.content, size: 1), mark > 0 else { return false }
        let size = UInt8(mark).leadingZeroBitCount + 1
        guard let written = try file.number(at: block.content, size: size) else { return false }
        return removedTracks.contains(written & (1 << UInt64(7 * size) - 1))
    }

    private func hasRemovedBlock(_ group: EBMLElement) throws(VideoError) -> Bool {
        let end = min(group.end ?? group.content, file.count)
        var position = group.content
        while let child = try EBMLElement(at: position, before: end, in: file), let next = child.end {
            if child.id == ID.block, try isRemoved(child) { return true }
            position = next
        }
        return false
    }

    /// Returns the first number of a kind among the elements in a range.
    private func number(_ id: UInt64, in range: Range<Int64>) throws(VideoError) -> UInt64? {
        var position = range.lowerBound
        while let field = try EBMLElement(at: position, before: range.upperBound, in: file), let end = field.end {
            if field.id == id, 1...8 ~= end - field.content {
                return try file.number(at: field.content, size: Int(end - field.content))
            }
            position = end
        }
        return nil
    }
}
