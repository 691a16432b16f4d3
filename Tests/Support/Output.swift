import CSpawn
import Foundation
import NIOConcurrencyHelpers

/// The output of a process, as it arrives.
///
/// It has a pipe of its own. Every process that is started meanwhile inherits the ends of Foundation's pipes, so
/// reading those would end only when all of these processes have ended.
public final class Output: Sendable {
    /// The end that the process writes to.
    public let end: FileHandle
    /// The whole text so far, when there is more since the last one. The stream ends with the process.
    public let texts: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let source: Int32
    private let collected = NIOLockedValueBox("")

    public init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(cspawn_pipe(&descriptors) == 0, "no pipe")
        source = descriptors[0]
        end = FileHandle(fileDescriptor: descriptors[1], closeOnDealloc: false)
        // All of them would be the square of a long log, of which some tests read nothing.
        (texts, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Starts to read. It is called once the process has started.
    public func begin() {
        close(end.fileDescriptor)
        Thread { [source, collected, continuation] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var unfinished: [UInt8] = []
            while true {
                let count = read(source, &buffer, buffer.count)
                guard count > 0 else { break }
                // A process may write a character byte by byte.
                let bytes = unfinished + buffer[..<count]
                let complete = bytes.count - lengthOfUnfinishedCharacter(bytes)
                unfinished = Array(bytes[complete...])
                let text = collected.withLockedValue { text in
                    text += String(decoding: bytes[..<complete], as: UTF8.self)
                    return text
                }
                continuation.yield(text)
            }
            collected.withLockedValue { $0 += String(decoding: unfinished, as: UTF8.self) }
            close(source)
            continuation.finish()
        }.start()
    }

    public var text: String { collected.withLockedValue { $0 } }

    /// Returns the whole text, once the process has ended.
    public func wholeText() async -> String {
        for await _ in texts {}
        return text
    }
}

/// Returns how many bytes at the end begin a character of UTF-8 whose other bytes are missing: 0…3.
private func lengthOfUnfinishedCharacter(_ bytes: [UInt8]) -> Int {
    for (count, byte) in zip(1..., bytes.reversed().prefix(3)) where byte & 0xC0 != 0x80 {
        let length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        return count < length ? count : 0
    }
    return 0
}
