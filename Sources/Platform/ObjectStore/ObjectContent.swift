import Foundation
import NIOCore

/// The attributes of a stored object.
public struct ObjectAttributes: Sendable, Equatable {
    /// The size in bytes.
    public var size: Int64
    /// The time at which the object was written, in Unix seconds; nil when the store does not tell it.
    public var modified: Int64?

    public init(size: Int64, modified: Int64?) {
        self.size = size
        self.modified = modified
    }
}

/// The bytes of an object or a range of it, which arrive in pieces. They can be sent once.
public struct ObjectContent: Sendable {
    private let pieces: @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void

    /// - Parameter pieces: Passes each piece on, in order. It throws when the store fails half way.
    public init(pieces: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void) {
        self.pieces = pieces
    }

    /// Passes each piece on, in order, and waits until it has been accepted.
    ///
    /// - Throws: The errors of `write`, and ``CutShort``.
    public func send(to write: (ByteBuffer) async throws -> Void) async throws { try await pieces(write) }

    /// The error for an object that ended early.
    public struct CutShort: Error {
        public init() {}
    }
}

/// A file that is open for reading, and closed with the last reference to it.
final class OpenFile: Sendable {
    let descriptor: Int32
    private let path: String

    init(_ path: String) throws(FileSystemError) {
        self.path = path
        descriptor = try FileSystem.openFile(path)
    }

    deinit { close(descriptor) }

    /// Reads some bytes, fewer when the file ends before. It blocks.
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
