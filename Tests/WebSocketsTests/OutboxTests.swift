import NIOCore
import Testbed
import Testing

@testable import WebSockets

/// An outbox sends each byte once and in order, whatever the kernel takes.
@Suite(.timeLimit(.minutes(30)))
struct OutboxTests {
    private func frame(_ number: Int, _ size: Int) -> ByteBuffer {
        ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) })
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func everyByteLeavesOnceInOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { memory.deallocate() }
        var outbox = Outbox()
        var expected: [UInt8] = []
        var left: [UInt8] = []
        /// The sizes of the frames that the channel has, in their order.
        var channel: [ByteBuffer] = []

        for number in 0..<60 {
            let frames = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                frame(number, .random(in: 1...90, using: &random))
            }
            for frame in frames { expected += frame.readableBytesView }
            if Bool.random(using: &random), let joined = JoinedFrames(frames.map(TextFrame.init(bytes:))) {
                outbox.append(joined)
            } else {
                for frame in frames { outbox.append(frame) }
            }
            outbox.send(joining: memory) { bytes in
                let accepted =
                    Int.random(in: 0...2, using: &random) > 0
                    ? bytes.count : .random(in: 0...bytes.count, using: &random)
                left += bytes.prefix(accepted)
                return accepted
            }
            if Bool.random(using: &random) { channel += outbox.passOn() }
            for frame in channel.prefix(Int.random(in: 0...6, using: &random)) {
                left += frame.readableBytesView
                outbox.endWrite(of: frame.readableBytes)
                channel.removeFirst()
            }
            #expect(left.elementsEqual(expected.prefix(left.count)))
            #expect(outbox.bytes == expected.count - left.count)
            #expect(outbox.isEmpty == (left.count == expected.count))
        }
    }

    @Test(arguments: [false, true])
    func framesCountUntilTheirLastByteIsAccepted(areJoined: Bool) throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { memory.deallocate() }
        var outbox = Outbox()
        let frames = (0..<4).map { frame($0, 10) }
        if areJoined {
            outbox.append(try #require(JoinedFrames(frames.map(TextFrame.init(bytes:)))))
        } else {
            for frame in frames { outbox.append(frame) }
        }
        #expect(outbox.frames == 4)
        outbox.send(joining: memory) { _ in 29 }
        #expect(outbox.frames == 2)
        #expect(outbox.bytes == 11)
        let rest = outbox.passOn()
        #expect(rest.map(\.readableBytes) == [1, 10])
        #expect(outbox.frames == 2)
        outbox.endWrite(of: 1)
        #expect(outbox.frames == 1)
        #expect(outbox.bytes == 10)
    }

    @Test func framesAreJoinedUpToAMaximum() throws {
        let (frame, large) = (TextFrame("x"), TextFrame(String(repeating: "x", count: 40_000)))
        let joined = try #require(JoinedFrames(repeatElement(frame, count: JoinedFrames.maximumCount)))
        #expect(joined.each.map(\.bytes) == Array(repeating: frame.bytes, count: JoinedFrames.maximumCount))
        #expect(joined.bytes.readableBytes == 3 * JoinedFrames.maximumCount)
        #expect(JoinedFrames(repeatElement(frame, count: JoinedFrames.maximumCount + 1)) == nil)
        #expect(JoinedFrames([frame, large]) != nil)
        #expect(JoinedFrames([large, large]) == nil)
    }

    @Test func nothingGoesPastAChannelThatHasSomething() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { memory.deallocate() }
        var outbox = Outbox()
        outbox.beginForeignWrite()
        outbox.append(frame(0, 10))
        outbox.send(joining: memory) { _ in
            Issue.record("sent before what the channel has")
            return 0
        }
        outbox.endWrite(of: 0)
        outbox.send(joining: memory) { $0.count }
        #expect(outbox.isEmpty)
    }
}
