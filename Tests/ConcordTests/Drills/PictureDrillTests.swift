import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

/// A client repeatedly sends small files that contain large pictures. Each is answered, and requests of other users
/// succeed meanwhile. The test takes seconds; `make torture` takes minutes.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct PictureDrillTests {
    /// The sizes: wide, high, and with more pixels than allowed.
    private static let sizes = [(1, 5000), (5000, 1), (1, 65_000), (9000, 9000), (20_000, 20_000)]

    @Test func hostilePicturesDelayNoOtherRequests() async throws {
        try await withTemporaryFolder { folder async throws in
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "deuce-diary", "--data", folder, "--port", "deuce-diary=\(port)"])
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let raw = RawClient(baseURL: url, transport: .patient)
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

    /// Creates groups until the load ends, at least one. Each request must succeed.
    ///
    /// - Returns: The number of groups, and the time that the slowest request took.
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
