import Foundation
import NIOCore
import NIOPosix

/// The content of a file, piece by piece. Each iteration opens it again, so that a request can be repeated.
struct FileChunks: AsyncSequence, Sendable {
    private static let size = 256 * 1024

    let path: String
    let threads: NIOThreadPool

    func makeAsyncIterator() -> Iterator { Iterator(path: path, threads: threads) }

    struct Iterator: AsyncIteratorProtocol {
        let path: String
        let threads: NIOThreadPool
        private var file: OpenFile?

        init(path: String, threads: NIOThreadPool) {
            self.path = path
            self.threads = threads
        }

        /// Throws ``FileSystemError``.
        mutating func next() async throws -> ByteBuffer? {
            let (file, chunk) = try await threads.blocking { [path, file] in
                let file = try file ?? OpenFile(path)
                var chunk = ByteBuffer()
                try chunk.writeWithUnsafeMutableBytes(minimumWritableBytes: FileChunks.size) { bytes in
                    try FileSystem.read(into: bytes, from: file.descriptor, path: path)
                }
                return (file, chunk)
            }
            self.file = file
            return chunk.readableBytes > 0 ? chunk : nil
        }
    }

    /// Closed with the last reference: whoever sends a body may let go of it at any piece.
    private final class OpenFile: Sendable {
        let descriptor: Int32

        init(_ path: String) throws(FileSystemError) {
            descriptor = try FileSystem.openFile(path)
        }

        deinit { close(descriptor) }
    }
}
