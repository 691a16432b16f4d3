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
/// What the pictures, the sound or the subtitles themselves reveal stays.
public enum Video {
    /// Cleans a video.
    ///
    /// - Parameter descriptor: A file that is open for reading and writing.
    /// - Throws: ``VideoError``; the file may have been changed in part.
    public static func clean(_ descriptor: Int32, as container: VideoContainer) throws(VideoError) {
        let file = try VideoBytes(descriptor)
        switch container {
        case .isoBaseMedia:
            var movie = ISOMovie(file)
            try movie.clean()
        case .matroska:
            var movie = MatroskaMovie(file)
            try movie.clean()
        }
    }
}

/// The bytes of a file, read through a small window.
final class VideoBytes {
    /// The most elements that are read, which is more than a film of 50 MiB has.
    private static let maximumSteps = 1_000_000
    /// The most elements that are changed.
    private static let maximumWrites = 100_000
    private static let windowSize = 1 << 16
    private static let zeros = [UInt8](repeating: 0, count: windowSize)

    let count: Int64
    private let descriptor: Int32
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0
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

    /// Returns the bytes at a position, at most 64 KiB; nil when the file has fewer.
    func bytes(at position: Int64, count: Int) throws(VideoError) -> ArraySlice<UInt8>? {
        precondition(0...Self.windowSize ~= count)
        guard position >= 0, position <= self.count, Int64(count) <= self.count - position else { return nil }
        if position < windowStart || position + Int64(count) > windowStart + Int64(window.count) {
            try fill(from: position)
        }
        let start = Int(position - windowStart)
        guard start + count <= window.count else { return nil }
        return window[start..<start + count]
    }

    /// Returns an unsigned number of up to eight bytes, the most significant first; nil when the file ends before.
    func number(at position: Int64, size: Int) throws(VideoError) -> UInt64? {
        try bytes(at: position, count: size)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func write(_ bytes: [UInt8], at position: Int64) throws(VideoError) {
        writes += 1
        guard writes <= Self.maximumWrites else { throw .notAVideo }
        try write(bytes[...], at: position)
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

    private func fill(from position: Int64) throws(VideoError) {
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
        window = Array(bytes[..<filled])
        windowStart = position
    }

    private func write(_ bytes: ArraySlice<UInt8>, at position: Int64) throws(VideoError) {
        let seen = windowStart..<windowStart + Int64(window.count)
        let changed = (position..<position + Int64(bytes.count)).clamped(to: seen)
        if !changed.isEmpty {
            let first = bytes.startIndex + Int(changed.lowerBound - position)
            window.replaceSubrange(
                Int(changed.lowerBound - windowStart)..<Int(changed.upperBound - windowStart),
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
