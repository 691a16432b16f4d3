import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A temporary file for an upload.
///
/// It has one writer, which appends in pieces and waits for each. The file is removed by ``discard()``, by
/// ``ObjectStore/put(_:at:contentType:)`` or, if neither happened, with the last reference to it.
public final class SpooledFile: Sendable {
    /// The error of a file that was finished or discarded, or after a failed write.
    public struct Closed: Error {
        /// The error has no details.
        public init() {}
    }

    private struct State: Sendable {
        var descriptor: Int32?
        var isFinished = false
        var count: Int64 = 0
        /// The count at the last check of the disk's space.
        var checkedAt: Int64 = 0
        var hash = SHA256()
    }

    private static let suffix = ".part"

    /// The path of the file.
    public let path: String
    private let threads: NIOThreadPool
    private let reserve: DiskReserve?
    private let state: NIOLockedValueBox<State>

    /// The bytes that are written between two checks of the disk's space.
    private static let checkInterval: Int64 = 4 << 20

    /// Creates `<folder>/<uuid>.part`, readable by the owner only. The folder must exist.
    ///
    /// The work is done on `threads`. It throws ``FileSystemError``, and ``InsufficientStorage`` when the disk has less
    /// left than `reserve`, which is checked again while the file grows.
    public init(folder: String, reserve: DiskReserve? = nil, threads: NIOThreadPool = .singleton) async throws {
        let path = "\(folder)/\(UUID().uuidString.lowercased())\(Self.suffix)"
        let descriptor = try await threads.blocking {
            try reserve?.check(folder)
            return try FileSystem.createFile(path)
        }
        self.path = path
        self.reserve = reserve
        self.threads = threads
        self.state = NIOLockedValueBox(State(descriptor: descriptor))
    }

    /// Takes a file over that is complete and on the disk: it is read for its hash, and removed like any other.
    public init(takingOver path: String, threads: NIOThreadPool = .singleton) async throws {
        self.path = path
        self.reserve = nil
        self.threads = threads
        let (count, hash) = try await threads.blocking { try Self.hash(path) }
        var state = State(descriptor: nil)
        (state.isFinished, state.count, state.hash) = (true, count, hash)
        self.state = NIOLockedValueBox(state)
    }

    deinit {
        let descriptor = state.withLockedValue { $0.descriptor }
        if let descriptor { close(descriptor) }
        // After `discard` and `put` the name is gone already. It is never used again, so no other file can be removed.
        unlink(path)
    }

    /// The number of bytes appended.
    public var count: Int64 { state.withLockedValue { $0.count } }

    /// The SHA-256 of the bytes appended so far: 32 bytes.
    public var sha256: [UInt8] { Array(state.withLockedValue { $0.hash }.finalize()) }

    /// Appends the readable bytes of `buffer`.
    ///
    /// It throws ``FileSystemError``, for example when the disk is full, and ``Closed`` after that;
    /// ``InsufficientStorage`` when the reserve is reached.
    public func append(_ buffer: ByteBuffer) async throws {
        try await threads.blocking { [self] in
            try state.withLockedValue { state in
                guard let descriptor = state.descriptor else { throw Closed() }
                if state.count - state.checkedAt >= Self.checkInterval {
                    try reserve?.check(path)
                    state.checkedAt = state.count
                }
                try buffer.withUnsafeReadableBytes { bytes in
                    do {
                        try FileSystem.write(bytes, to: descriptor, path: path)
                    } catch {
                        // Some of the bytes may be in the file, so it cannot be completed any more.
                        close(descriptor)
                        state.descriptor = nil
                        throw error
                    }
                    state.hash.update(bufferPointer: bytes)
                    state.count += Int64(bytes.count)
                }
            }
        }
    }

    /// Writes everything to the disk and closes the file. A second call does nothing.
    ///
    /// It throws ``FileSystemError``, and ``Closed`` after a failure or ``discard()``.
    public func finish() async throws {
        try await threads.blocking { [self] in try finishBlocking() }
    }

    /// Passes on what was appended so far in pieces, in order.
    ///
    /// It throws the errors of `write` and ``FileSystemError``.
    public func send(to write: (ByteBuffer) async throws -> Void) async throws {
        let file = try await threads.blocking { [self] in try OpenFile(path) }
        var offset: Int64 = 0
        while true {
            let piece = try await threads.blocking { [offset] in try file.piece(at: offset, upTo: 1 << 18) }
            guard piece.readableBytes > 0 else { return }
            offset += Int64(piece.readableBytes)
            try await write(piece)
        }
    }

    /// Changes the content of the file, which is finished first if it was not. `body` gets a descriptor for reading and
    /// writing. Afterwards count and hash are those of the changed file, which is written to the disk.
    ///
    /// It throws the errors of `body`, ``FileSystemError`` and ``Closed``. After a failure the file can only be
    /// discarded.
    public func change(_ body: @escaping @Sendable (_ descriptor: Int32) throws -> Void) async throws {
        try await threads.blocking { [self] in
            try finishBlocking()
            let descriptor = try FileSystem.openFile(path, for: O_RDWR)
            defer { close(descriptor) }
            try body(descriptor)
            try FileSystem.synchronize(descriptor, path: path)
            let (count, hash) = try Self.hash(path)
            state.withLockedValue { ($0.count, $0.hash) = (count, hash) }
        }
    }

    /// Reads a file to its end. It blocks.
    private static func hash(_ path: String) throws -> (count: Int64, hash: SHA256) {
        let descriptor = try FileSystem.openFile(path)
        defer { close(descriptor) }
        var (count, hash) = (Int64(0), SHA256())
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let read = try buffer.withUnsafeMutableBytes { [offset = count] bytes in
                let read = try FileSystem.read(into: bytes, from: descriptor, at: offset, path: path)
                hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<read]))
                return read
            }
            if read == 0 { return (count, hash) }
            count += Int64(read)
        }
    }

    /// Closes and removes the file. A second call does nothing.
    public func discard() async throws {
        try await threads.blocking { [self] in try discardBlocking() }
    }

    /// Does the work of ``finish()`` on the calling thread.
    func finishBlocking() throws {
        try state.withLockedValue { state in
            guard !state.isFinished else { return }
            guard let descriptor = state.descriptor else { throw Closed() }
            defer {
                close(descriptor)
                state.descriptor = nil
            }
            try FileSystem.synchronize(descriptor, path: path)
            state.isFinished = true
        }
    }

    /// Does the work of ``discard()`` on the calling thread.
    func discardBlocking() throws {
        try state.withLockedValue { state in
            if let descriptor = state.descriptor { close(descriptor) }
            state.descriptor = nil
            state.isFinished = false
            try FileSystem.remove(path)
        }
    }

    /// Removes the temporary files in `folder` that were last written before `cutoff` (Unix seconds), which a crash has
    /// left.
    ///
    /// It blocks and is meant for the start. The cut-off spares the uploads of other processes that use the folder.
    public static func removeAbandoned(in folder: String, olderThan cutoff: Int64) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(suffix) {
            let path = folder + "/" + name
            if let attributes = try FileSystem.attributes(of: path), attributes.modified < cutoff {
                try FileSystem.remove(path)
            }
        }
    }
}
