import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Small files that are large pictures, sent over and over: each is answered, and what others do meanwhile succeeds.
/// Seconds; `make torture` takes minutes.
@Suite(.timeLimit(.minutes(30))) struct PictureDrillTests {
    /// Wide, high, and more pixels than are read.
    private static let sizes = [(1, 5000), (5000, 1), (1, 65_000), (9000, 9000), (20_000, 20_000)]

    @Test func hostilePicturesHoldUpNobody() async throws {
        try await withTemporaryFolder { folder async throws in
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "deuce-diary", "--data", folder, "--port", "deuce-diary=\(port)"])
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let raw = RawClient(baseURL: url, transport: URLSessionTransport())
            let answers = NIOLockedValueBox<[Int: Int]>([:])
            let isOver = NIOLockedValueBox(false)
            let jane = try await ConcordProcess.diaryToken("jane", folder)
            async let others = groups(until: { isOver.withLockedValue { $0 } }, raw, jane)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for sender in 0..<4 {
                    let token = try await ConcordProcess.diaryToken("sender_\(sender)", folder)
                    tasks.addTask {
                        for index in 0..<Drill.rounds * 5 {
                            let (width, height) = Self.sizes[(sender + index) % Self.sizes.count]
                            let (type, bytes) = PictureForm.make(
                                "profilePicture", SampleImage.jpeg(width: width, height: height))
                            let answer = try await raw.send(
                                .post, "/api/auth/user/profile-picture", token: token,
                                headers: [.contentType: type], bytes: bytes)
                            answers.withLockedValue { $0[answer.status, default: 0] += 1 }
                        }
                    }
                }
                defer { isOver.withLockedValue { $0 = true } }
                try await tasks.waitForAll()
            }
            let (groups, slowest) = try await others
            let counts = answers.withLockedValue { $0 }
            #expect(Set(counts.keys).isSubset(of: [200, 400, 413, 429]), "\(counts)")
            #expect(counts[200, default: 0] > 0)
            print("drill: hostile pictures: answers \(counts); others' groups: \(groups), the slowest after \(slowest)")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Makes groups until it is over, each of which must succeed, and at least one.
    ///
    /// - Returns: How many, and how long the slowest took.
    private func groups(
        until isOver: @Sendable () -> Bool, _ raw: RawClient, _ token: String
    ) async throws -> (Int, slowest: Duration) {
        var (made, slowest) = (0, Duration.zero)
        repeat {
            let begun = ContinuousClock.now
            let answer = try await raw.send(
                .post, "/api/groups", token: token, headers: [.contentType: "application/json"],
                body: #"{"name":"Group \#(made)"}"#)
            slowest = max(slowest, ContinuousClock.now - begun)
            try #require(answer.status == 200 || answer.status == 201, "\(answer.text)")
            made += 1
        } while !isOver()
        return (made, slowest)
    }
}
