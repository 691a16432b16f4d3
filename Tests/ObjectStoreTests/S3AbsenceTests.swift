import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testbed
import Testing

@testable import ObjectStore

/// An S3 that does not answer delays requests only briefly.
@Suite(.timeLimit(.minutes(30))) struct S3AbsenceTests {
    private struct Pieces: AsyncSequence, Sendable {
        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<ByteBuffer>
            mutating func next() async throws -> ByteBuffer? { rest.popFirst() }
        }
        let pieces: [ByteBuffer]
        func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...]) }
    }

    private final class Moment: Sendable {
        private let value = NIOLockedValueBox(NIODeadline.uptimeNanoseconds(1))
        var now: @Sendable () -> NIODeadline { { self.value.withLockedValue { $0 } } }
        func advance(by time: TimeAmount) { value.withLockedValue { $0 = $0 + time } }
    }

    private func admits(_ breaker: S3Breaker) -> Bool {
        do { try breaker.admit("HeadObject") } catch { return false }
        return true
    }

    @Test func `after failures in a row calls fail at once, and one at a time tries again`() {
        let moment = Moment()
        let breaker = S3Breaker(threshold: 3, pause: .seconds(5), now: moment.now)
        for _ in 0..<2 { breaker.note(isWorking: false) }
        breaker.note(isWorking: true)
        for _ in 0..<2 { breaker.note(isWorking: false) }
        #expect(admits(breaker))
        breaker.note(isWorking: false)
        #expect(!admits(breaker))
        #expect(throws: S3Error.self) { try breaker.check("PutObject") }
        moment.advance(by: .seconds(5))
        #expect(throws: Never.self) { try breaker.check("PutObject") }
        #expect(admits(breaker))
        // The probe is in progress.
        #expect(!admits(breaker))
        breaker.note(isWorking: false)
        #expect(!admits(breaker))
        moment.advance(by: .seconds(5))
        #expect(admits(breaker))
        breaker.note(isWorking: true)
        #expect(admits(breaker) && admits(breaker))
    }

    @Test func `a cancelled probe lets the next one through`() {
        let moment = Moment()
        let breaker = S3Breaker(threshold: 1, pause: .seconds(5), now: moment.now)
        breaker.note(isWorking: false)
        moment.advance(by: .seconds(5))
        #expect(admits(breaker))
        breaker.release()
        #expect(admits(breaker))
    }

    @Test func `a check is cached, and made once for all callers`() async throws {
        struct Away: Error {}
        let moment = Moment()
        let check = CachedCheck(lifetime: .seconds(3), now: moment.now)
        let count = NIOLockedValueBox(0)
        let isAway = NIOLockedValueBox(false)
        let ask = {
            try await check.run {
                count.withLockedValue { $0 += 1 }
                if isAway.withLockedValue({ $0 }) { throw Away() }
            }
        }
        for _ in 0..<100 { try await ask() }
        #expect(count.withLockedValue { $0 } == 1)
        isAway.withLockedValue { $0 = true }
        try await ask()
        moment.advance(by: .seconds(3))
        for _ in 0..<100 { await #expect(throws: Away.self) { try await ask() } }
        #expect(count.withLockedValue { $0 } == 2)
    }

    @Test func `the number of requests at once is limited`() async throws {
        let occupancy = ConcurrencyLimit(limit: 2)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let tasks = (0..<2).map { _ in
            Task {
                await occupancy.run {
                    enter.yield()
                    for await _ in gate { return }
                }
            }
        }
        var iterator = entered.makeAsyncIterator()
        for _ in tasks { _ = await iterator.next() }
        #expect(await occupancy.run { true } == nil)
        open.finish()
        for task in tasks { #expect(await task.value != nil) }
        #expect(await occupancy.run { true } == true)
    }

    /// It used to be one request for every 256 KiB.
    @Test func `a large object is one request, and a truncated one is an error`() async throws {
        let folder = try TemporaryFolder()
        let key = try #require(ObjectKey("a"))
        let size: Int64 = 50 << 20
        let ranges = NIOLockedValueBox<[String?]>([])
        for missing in [0, 1] {
            var client = S3ClientTests.Script([]).client(try S3Location("s3://bucket"))
            client.open = { request, _ in
                ranges.withLockedValue { $0.append(request.headers.first(name: "Range")) }
                let pieces = [ByteBuffer](repeating: ByteBuffer(repeating: 65, count: 1 << 20), count: 50 - missing)
                return HTTPClientResponse(
                    version: .http1_1, status: .partialContent, headers: [:], body: .stream(Pieces(pieces: pieces)))
            }
            let store = try S3ObjectStore(client: client, spoolFolder: folder.path)
            let content = try #require(try await store.open(key, in: 0..<size))
            var sent: Int64 = 0
            if missing == 0 {
                try await content.send { piece in sent += Int64(piece.readableBytes) }
                #expect(sent == size)
            } else {
                await #expect(throws: ObjectContent.CutShort.self) { try await content.send { _ in } }
            }
        }
        #expect(ranges.withLockedValue { $0 } == ["bytes=0-52428799", "bytes=0-52428799"])
    }

    /// Runs a port that accepts connections and never sends anything.
    private func withSilence(_ body: (_ port: UInt16) async throws -> Void) async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        try #require(isListening)
        try await body(UInt16(bigEndian: address.sin_port))
    }

    @Test(.timeLimit(.minutes(30))) func `a silent S3 is given up after seconds, and then at once`() async throws {
        try await withSilence { port in
            let folder = try TemporaryFolder()
            let store = try S3ObjectStore(
                location: S3Location("s3://bucket?endpoint=http://127.0.0.1:\(port)"),
                credentials: S3Server.credentials, spoolFolder: folder.path, now: S3Server.now)
            let key = try #require(ObjectKey("a"))
            #expect(store.client.patience == .seconds(4))
            await #expect(throws: S3Error.self) { try await store.put("x", at: key) }
            var failures = 0
            while failures < 20, (try? store.client.breaker.check("PutObject")) != nil {
                failures += 1
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { _ = try? await store.size(of: key) } }
                }
            }
            // Nothing more is received, and no request waits.
            await #expect(throws: S3Error.self) { try await store.spool() }
            #expect(folder.files(in: ".") == [])
            try await store.close()
        }
    }
}
