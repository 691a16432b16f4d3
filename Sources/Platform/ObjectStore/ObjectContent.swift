import Foundation
import NIOCore

/// What a store knows of an object.
public struct ObjectAttributes: Sendable, Equatable {
    /// In bytes.
    public var size: Int64
    /// When the object was written, in Unix seconds; nil where the store does not say.
    public var modified: Int64?

    public init(size: Int64, modified: Int64?) {
        self.size = size
        self.modified = modified
    }
}

/// The bytes of an object, or some of them, which come piece by piece. To be sent once.
public struct ObjectContent: Sendable {
    private let pieces: @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void

    /// - Parameter pieces: Hands over each piece in order; throws when the store fails half way.
    public init(pieces: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void) {
        self.pieces = pieces
    }

    /// Hands over each piece in order, the next when the one before has been taken.
    ///
    /// - Throws: What `write` throws, and ``CutShort``.
    public func send(to write: (ByteBuffer) async throws -> Void) async throws { try await pieces(write) }

    /// The object ended before its bytes did.
    public struct CutShort: Error {
        public init() {}
    }
}

/// A file that is open for reading, closed with the last reference to it.
final class OpenFile: Sendable {
    let descriptor: Int32
    private let path: String

    init(_ path: String) throws(FileSystemError) {
        self.path = path
        descriptor = try FileSystem.openFile(path)
    }

    deinit { close(descriptor) }

    /// Reads some bytes, fewer where the file ends before. Blocks.
    func piece(at offset: Int64, upTo count: Int) throws -> ByteBuffer {
        var piece = ByteBuffer()
        try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            try FileSystem.read(
                into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(count)), from: descriptor, at: offset,
                path: path)
        }
        return piece
    }
}
