import Backend
import Foundation

/// A file into which a command writes its output. An existing file is not overwritten.
struct FileConsole: OperatorConsole {
    private let path: String
    private let handle: FileHandle

    /// Creates the file.
    ///
    /// - Throws: `OperatorError`.
    init(path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw OperatorError("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        self.path = path
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ bytes: [UInt8]) async throws { try handle.write(contentsOf: bytes) }
    func show(_ done: Int, of total: Int) async throws {}
    func read() async throws -> [UInt8]? { nil }

    /// Removes the file of a command that has failed.
    func discard() { unlink(path) }
}
