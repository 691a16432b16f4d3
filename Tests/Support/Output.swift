import Foundation
import NIOConcurrencyHelpers

/// What a process writes, as it comes.
///
/// A pipe of our own rather than Foundation's, whose ends every process inherits that is started meanwhile: its end
/// would come only when all of those have ended.
public final class Output: Sendable {
    /// The end for the process.
    public let end: FileHandle
    /// The whole text so far, each time there is more; ends with the process.
    public let texts: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let source: Int32
    private let collected = NIOLockedValueBox("")

    public init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(pipe(&descriptors) == 0, "no pipe")
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        source = descriptors[0]
        end = FileHandle(fileDescriptor: descriptors[1], closeOnDealloc: false)
        (texts, continuation) = AsyncStream<String>.makeStream()
    }

    /// Reads from now on, once the process has its end.
    public func begin() {
        close(end.fileDescriptor)
        Thread { [source, collected, continuation] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(source, &buffer, buffer.count)
                guard count > 0 else { break }
                let text = collected.withLockedValue { text in
                    text += String(decoding: buffer[..<count], as: UTF8.self)
                    return text
                }
                continuation.yield(text)
            }
            close(source)
            continuation.finish()
        }.start()
    }

    public var text: String { collected.withLockedValue { $0 } }

    /// Everything, once the process has ended.
    public func wholeText() async -> String {
        for await _ in texts {}
        return text
    }
}
