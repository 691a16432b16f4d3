/// The four characters of a box's type.
struct BoxType: Hashable, ExpressibleByStringLiteral {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }
    init(stringLiteral text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4)
        rawValue = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}

/// A box (ISO/IEC 14496-12 §4.2), which QuickTime calls an atom: its size, its type, its content.
struct ISOBox {
    let type: BoxType
    let start: Int64
    /// The position of the content, behind a header of 8 or 16 bytes.
    let content: Int64
    let end: Int64

    /// Reads the box at a position within a parent; nil when there is no whole one.
    ///
    /// - Parameter isAtTopLevel: Whether the box may extend to the end of the file without giving its size.
    init?(at start: Int64, before end: Int64, isAtTopLevel: Bool, in file: VideoBytes) throws(VideoError) {
        try file.step()
        guard end - start >= 8, let size = try file.number(at: start, size: 4),
            let type = try file.number(at: start + 4, size: 4)
        else { return nil }
        self.type = BoxType(rawValue: UInt32(type))
        self.start = start
        switch size {
        case 0:
            guard isAtTopLevel else { return nil }
            (content, self.end) = (start + 8, end)
        case 1:
            guard end - start >= 16, let large = try file.number(at: start + 8, size: 8), large >= 16,
                large <= UInt64(end - start)
            else { return nil }
            (content, self.end) = (start + 16, start + Int64(large))
        default:
            guard size >= 8, size <= UInt64(end - start) else { return nil }
            (content, self.end) = (start + 8, start + Int64(size))
        }
    }

    /// Replaces the box by an empty one (`free`, §8.1.2) of the same size.
    func blank(in file: VideoBytes) throws(VideoError) {
        try file.write(Array("free".utf8), at: start + 4)
        try file.clear(content..<end)
    }
}

extension VideoBytes {
    /// Calls `body` for each of the boxes in a range.
    ///
    /// - Returns: The position behind the last whole one.
    func forEachBox(
        in range: Range<Int64>, isAtTopLevel: Bool = false, _ body: (ISOBox) throws(VideoError) -> Void
    ) throws(VideoError) -> Int64 {
        var position = range.lowerBound
        while position < range.upperBound,
            let box = try ISOBox(at: position, before: range.upperBound, isAtTopLevel: isAtTopLevel, in: self)
        {
            try body(box)
            position = box.end
        }
        return position
    }

    /// Calls `body` for each of the boxes in another.
    ///
    /// - Throws: ``VideoError/notAVideo`` when the content does not consist of boxes.
    func forEachBox(in box: ISOBox, _ body: (ISOBox) throws(VideoError) -> Void) throws(VideoError) {
        let end = try forEachBox(in: box.content..<box.end, body)
        // QuickTime ends some lists with a size of zero.
        guard box.end - end < 8 else { throw .notAVideo }
        if end < box.end { try clear(end..<box.end) }
    }

    /// Returns the first box of a type in another.
    func first(_ type: BoxType, in box: ISOBox) throws(VideoError) -> ISOBox? {
        var found: ISOBox?
        try forEachBox(in: box) { child throws(VideoError) in if found == nil, child.type == type { found = child } }
        return found
    }
}
