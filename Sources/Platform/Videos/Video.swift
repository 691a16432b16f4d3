import Foundation

/// The containers that videos come in.
public enum VideoContainer: Sendable {
    /// MP4 (ISO/IEC 14496-12), and QuickTime, on which it is based.
    case isoBaseMedia
    /// WebM and Matroska (RFC 9559), in EBML (RFC 8794).
    case matroska
}

/// The reason why a video is refused.
public enum VideoError: Error, Equatable {
    /// The file has no video track, or is damaged.
    case notAVideo
    /// The file could not be read or written; the value is `errno`.
    case inaccessible(Int32)
}

/// Removes the metadata of a video about its place, its device and its author.
///
/// It works in place and no byte changes its position, so that everything that refers to a position stays valid. A
/// removed element becomes an empty element of the container, of the same size and filled with zeros. Pictures and
/// sound are not changed. The work takes little memory, whatever sizes the file declares.
///
/// Tracks of text are removed with their content, because drones write the place of each second into subtitles. What
/// the pictures and the sound themselves reveal stays, and captions in the codes of television.
public enum Video {
    /// Cleans a video.
    ///
    /// - Parameter descriptor: A file that is open for reading and writing.
    /// - Throws: ``VideoError``; the file may have been changed in part.
    public static func clean(_ descriptor: Int32, as container: VideoContainer) throws(VideoError) {
        let file = try VideoBytes(descriptor)
        switch container {
        case .isoBaseMedia:
            try ISOMovie(file).clean()
        case .matroska:
            var movie = MatroskaMovie(file)
            try movie.clean()
        }
    }
}

/// The bytes of a file, read through a small window.
final class VideoBytes {
    /// The most elements that are read, which is more than a film of 50 MiB has.
    private static let maximumSteps = 3_000_000
    /// The most elements that are changed.
    private static let maximumWrites = 100_000
    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)
    private static let windowSize = 1 << 14
    /// The number of windows. The tables of a track are read side by side.
    private static let windowCount = 4

    let count: Int64
    private let descriptor: Int32
    /// The windows into the file, the one that was used last first.
    private var windows: [(start: Int64, bytes: [UInt8])] = []
    private var steps = 0
    private var writes = 0
    private var cleared: Int64 = 0

    init(_ descriptor: Int32) throws(VideoError) {
        self.descriptor = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .inaccessible(errno) }
        count = Int64(status.st_size)
    }

    /// Counts an element, so that the work on a file of tiny ones ends.
    func step() throws(VideoError) {
        steps += 1
        guard steps <= Self.maximumSteps else { throw .notAVideo }
    }

    /// Returns the bytes at a position, at most eight; nil when the file has fewer.
    private func bytes(at position: Int64, count: Int) throws(VideoError) -> ArraySlice<UInt8>? {
        guard position >= 0, position <= self.count, Int64(count) <= self.count - position else { return nil }
        let known = windows.firstIndex {
            $0.start <= position && position + Int64(count) <= $0.start + Int64($0.bytes.count)
        }
        if known != 0 {
            let window =
                if let known { windows.remove(at: known) } else { (start: position, bytes: try read(from: position)) }
            if windows.count == Self.windowCount { windows.removeLast() }
            windows.insert(window, at: 0)
        }
        let start = Int(position - windows[0].start)
        guard start + count <= windows[0].bytes.count else { return nil }
        return windows[0].bytes[start..<start + count]
    }

    /// Returns an unsigned number of up to eight bytes, the most significant first; nil when the file ends before.
    func number(at position: Int64, size: Int) throws(VideoError) -> UInt64? {
        try bytes(at: position, count: size)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns a range of the file, without what would be behind its end; nil when it begins there.
    func range(from start: UInt64, length: UInt64) -> Range<Int64>? {
        guard start < UInt64(count) else { return nil }
        return Int64(start)..<Int64(start + min(length, UInt64(count) - start))
    }

    /// Writes bytes, up to the end of the file.
    func write(_ bytes: [UInt8], at position: Int64) throws(VideoError) {
        writes += 1
        guard writes <= Self.maximumWrites else { throw .notAVideo }
        try write(bytes.prefix(Int(max(0, min(Int64(bytes.count), count - position)))), at: position)
    }

    /// Fills a range with zeros, up to the end of the file.
    func clear(_ range: Range<Int64>) throws(VideoError) {
        let range = range.clamped(to: 0..<count)
        // Ranges may overlap in a manipulated file. In a valid one every byte is cleared at most once.
        cleared += range.upperBound - range.lowerBound
        guard cleared <= 2 * count else { throw .notAVideo }
        var position = range.lowerBound
        while position < range.upperBound {
            let piece = min(range.upperBound - position, Int64(Self.zeros.count))
            try write(Self.zeros.prefix(Int(piece)), at: position)
            position += piece
        }
    }

    private func read(from position: Int64) throws(VideoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(min(Int64(Self.windowSize), count - position)))
        var filled = 0
        while filled < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, $0.count - filled, off_t(position) + off_t(filled))
            }
            guard read >= 0 || errno == EINTR else { throw .inaccessible(errno) }
            if read == 0 { break }
            filled += max(0, read)
        }
        return Array(bytes[..<filled])
    }

    private func write(_ bytes: ArraySlice<UInt8>, at position: Int64) throws(VideoError) {
        for index in windows.indices {
            let start = windows[index].start
            let changed = (position..<position + Int64(bytes.count))
                .clamped(to: start..<start + Int64(windows[index].bytes.count))
            guard !changed.isEmpty else { continue }
            let first = bytes.startIndex + Int(changed.lowerBound - position)
            windows[index].bytes.replaceSubrange(
                Int(changed.lowerBound - start)..<Int(changed.upperBound - start),
                with: bytes[first..<first + changed.count])
        }
        var (rest, position) = (bytes, position)
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            guard written >= 0 || errno == EINTR else { throw .inaccessible(errno) }
            rest = rest.dropFirst(max(0, written))
            position += Int64(max(0, written))
        }
    }
}
