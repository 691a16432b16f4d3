import NIOConcurrencyHelpers
import NIOCore
import Testbed
import Testing

@testable import ContractServer

/// The same bytes have the same tag on every node, and others have another.
@Suite(.timeLimit(.minutes(30))) struct EntityTagTests {
    private func tags(_ secrets: [[UInt8]] = [Array(1...32)]) -> EntityTags { EntityTags { secrets } }

    private func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test(arguments: [0, 1, 2047, 2048, 2049, 10_000, 300_000])
    func aTagIsThatOfTheBytes(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let content = bytes(count, &random)
        let tag = tags().tag(of: ByteBuffer(bytes: content))
        #expect(tag.hasPrefix("W/\"") && tag.hasSuffix("\"") && tag.utf8.count == 36)
        #expect(tags().tag(of: ByteBuffer(bytes: content)) == tag)
        // The place of the bytes in a buffer does not matter.
        var buffer = ByteBuffer(bytes: [0, 0, 0] + content + [0])
        buffer.moveReaderIndex(forwardBy: 3)
        buffer.moveWriterIndex(to: buffer.writerIndex - 1)
        #expect(tags().tag(of: buffer) == tag)
        for _ in 0..<min(count, 50) {
            var other = content
            other[Int.random(in: 0..<count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            #expect(tags().tag(of: ByteBuffer(bytes: other)) != tag)
        }
        let others = [content + [0], content + [0, 0], content + [UInt8](repeating: 0, count: 16)]
        #expect(Set(others.map { tags().tag(of: ByteBuffer(bytes: $0)) } + [tag]).count == 4)
    }

    /// The tags of long texts depend on the secret, so that the code alone does not tell how to make two with one tag.
    @Test func theSecretDecidesOnLongTexts() {
        let long = ByteBuffer(repeating: 7, count: 5000)
        let all = [[Array(1...32)], [Array(2...33)], [Array(2...33), Array(1...32)], []].map { tags($0).tag(of: long) }
        #expect(all[0] != all[1] && all[1] == all[2] && all[3] != all[0])
        let short = ByteBuffer(repeating: 7, count: 100)
        #expect(tags().tag(of: short) == tags([]).tag(of: short))
    }

    @Test func aSecretMayBeReplaced() {
        let secret = NIOLockedValueBox([Array(1...32) as [UInt8]])
        let tags = EntityTags { secret.withLockedValue { $0 } }
        let long = ByteBuffer(repeating: 7, count: 5000)
        let before = tags.tag(of: long)
        secret.withLockedValue { $0.insert(Array(2...33), at: 0) }
        #expect(tags.tag(of: long) != before)
        secret.withLockedValue { $0 = [Array(1...32)] }
        #expect(tags.tag(of: long) == before)
    }
}
