import Foundation
import NIOConcurrencyHelpers

/// What a process reads. A pipe of our own, for the reason that ``Output`` has.
public final class Input: Sendable {
    /// The end for the process.
    public let end: FileHandle
    private let target: NIOLockedValueBox<FileHandle?>

    public init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(pipe(&descriptors) == 0, "no pipe")
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        end = FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: false)
        target = NIOLockedValueBox(FileHandle(fileDescriptor: descriptors[1], closeOnDealloc: true))
    }

    /// Once the process has its end.
    public func begin() { close(end.fileDescriptor) }

    public func write(_ text: String) throws {
        try target.withLockedValue { try $0?.write(contentsOf: Data(text.utf8)) }
    }

    /// The process reads its end.
    public func finish() {
        target.withLockedValue { target in
            try? target?.close()
            target = nil
        }
    }
}
