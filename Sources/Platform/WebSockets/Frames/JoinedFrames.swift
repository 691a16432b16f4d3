import NIOCore

/// Frames that any number of sockets send one after the other, and their bytes in one piece.
public final class JoinedFrames: Sendable {
    /// The maximum size in bytes.
    public static let maximumSize = 65_536
    /// The maximum number of frames.
    public static let maximumCount = 64

    let frames: [ByteBuffer]
    let bytes: ByteBuffer

    /// The frames, one by one.
    public var each: some Collection<TextFrame> { frames.lazy.map { TextFrame(bytes: $0) } }

    /// Joins frames.
    ///
    /// - Returns: nil if they have more than ``maximumSize`` bytes, or are more than ``maximumCount``.
    public init?(_ frames: some Collection<TextFrame>) {
        let size = frames.reduce(0) { $0 + $1.bytes.readableBytes }
        guard size <= Self.maximumSize, frames.count <= Self.maximumCount else { return nil }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(size)
        for frame in frames { bytes.writeImmutableBuffer(frame.bytes) }
        self.frames = frames.map(\.bytes)
        self.bytes = bytes
    }
}
