import Foundation
import Testbed
import Testing

/// Tests read the output of a process as it was written.
@Suite(.timeLimit(.minutes(30))) struct OutputTests {
    @Test(arguments: ["a…b", "aéb", "a😀b"]) func aCharacterMayArriveByteByByte(_ text: String) async throws {
        let output = Output()
        let end = dup(output.end.fileDescriptor)
        output.begin()
        var texts = output.texts.makeAsyncIterator()
        for byte in text.utf8 {
            #expect(withUnsafeBytes(of: byte) { write(end, $0.baseAddress, 1) } == 1)
            // Without this, several bytes could be read at once.
            let read = try #require(await texts.next())
            #expect(text.hasPrefix(read), "\(read)")
        }
        close(end)
        #expect(await output.wholeText() == text)
    }

    @Test func aCharacterThatIsCutOffIsShownAsSuch() async throws {
        let output = Output()
        let end = dup(output.end.fileDescriptor)
        output.begin()
        #expect("a…".utf8.withContiguousStorageIfAvailable { write(end, $0.baseAddress, 2) } == 2)
        close(end)
        #expect(await output.wholeText() == "a\u{FFFD}")
    }
}
