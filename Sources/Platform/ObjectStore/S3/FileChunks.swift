import Foundation
import NIOCore
import NIOPosix

/// The content of a file in pieces. Each iteration opens it again, so that a request can be repeated.
struct FileChunks: AsyncSequence, Sendable {
    static let size = 256 * 1024

    let path: String
    let threads: NIOThreadPool

    func makeAsyncIterator() -> Iterator { Iterator(path: path, threads: threads) }

    struct Iterator: AsyncIteratorProtocol {
        let path: String
        let threads: NIOThreadPool
        // The sender of a body may release it after any piece.
        private var file: OpenFile?
        private var offset: Int64 = 0

        init(path: String, threads: NIOThreadPool) {
            self.path = path
            self.threads = threads
        }

        /// Returns the next piece.
        ///
        /// - Throws: ``FileSystemError``.
        mutating func next() async throws -> ByteBuffer? {
            let (file, chunk) = try await threads.blocking { [path, file, offset] in
                let file = try file ?? OpenFile(path)
                return (file, try file.piece(at: offset, upTo: FileChunks.size))
            }
            self.file = file
            offset += Int64(chunk.readableBytes)
            return chunk.readableBytes > 0 ? chunk : nil
        }
    }
}
