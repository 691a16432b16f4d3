import CSpawn
import Foundation
import NIOConcurrencyHelpers

/// The standard input of a process. It has a pipe of its own for the reason that ``Output`` gives.
public final class Input: Sendable {
    /// The end that the process reads.
    public let end: FileHandle
    private let target: NIOLockedValueBox<FileHandle?>

    public init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(cspawn_pipe(&descriptors) == 0, "no pipe")
        end = FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: false)
        target = NIOLockedValueBox(FileHandle(fileDescriptor: descriptors[1], closeOnDealloc: true))
    }

    /// Closes this process's copy of the reading end. It is called once the process has started.
    public func begin() { close(end.fileDescriptor) }

    public func write(_ text: String) throws {
        try target.withLockedValue { try $0?.write(contentsOf: Data(text.utf8)) }
    }

    /// Closes the writing end, so that the process reads its end of file.
    public func finish() {
        target.withLockedValue { target in
            try? target?.close()
            target = nil
        }
    }
}
