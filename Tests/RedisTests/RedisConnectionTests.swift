import Foundation
import NIOPosix
import Testbed
import Testing

@testable import Redis

/// Connections to a real Redis.
@Suite(.enabled(if: TestServers.redis != nil, "`make test` unpacks Redis"), .timeLimit(.minutes(30)))
struct RedisConnectionTests {
    /// Runs what blocks on a thread of its own.
    private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await NIOThreadPool.singleton.runIfActive(body)
    }

    private func connect(_ url: String) async throws -> RedisConnection {
        let server = try #require(RedisServer(url))
        return try await blocking { try RedisConnection(to: server) }
    }

    /// Takes messages until there are as many.
    private func take(_ count: Int, from connection: RedisConnection) async throws -> [String] {
        try await blocking {
            var texts: [String] = []
            while texts.count < count { texts += try connection.messages(waitingMilliseconds: 200) }
            return texts
        }
    }

    @Test func messagesArriveInOrderOnTheirChannels() async throws {
        try await TestRedis.serving { redis in
            let (listener, publisher) = (try await connect(redis.url), try await connect(redis.url))
            try await blocking { try listener.subscribe(to: ["a", "b"]) }
            let texts = (0..<2000).map { "\($0) é\r\n" + String(repeating: "x", count: $0 * 7 % 8000) }
            try await blocking {
                try publisher.publish(texts.enumerated().map { (["a", "b", "c"][$0 % 3], $1) })
            }
            let heard = texts.enumerated().filter { $0.offset % 3 < 2 }.map(\.element)
            #expect(try await take(heard.count, from: listener) == heard)
            #expect(try await blocking { try listener.messages(waitingMilliseconds: 1) } == [])
        }
    }

    @Test func aPasswordIsGivenAndNeverShown() async throws {
        let settings = ["--requirepass", "hush", "--user", "anna", "on", ">silent", "&*", "+@all"]
        try await TestRedis.serving(settings) { redis in
            for user in [":hush", "anna:silent"] {
                let connection = try await connect("redis://\(user)@127.0.0.1:\(redis.port)/1")
                try await blocking { try connection.publish([("a", "b")]) }
            }
            for (user, word) in [("", "NOAUTH"), (":wrong@", "WRONGPASS"), ("anna:wrong@", "WRONGPASS")] {
                let error = await #expect(throws: RedisError.self) {
                    _ = try await connect("redis://\(user)127.0.0.1:\(redis.port)")
                }
                let text = error?.description ?? ""
                #expect(text.hasPrefix("redis://127.0.0.1:\(redis.port)/0: \(word)"), "\(text)")
                #expect(!text.contains("wrong@"))
            }
            let error = await #expect(throws: RedisError.self) {
                _ = try await connect("redis://:hush@127.0.0.1:\(redis.port)/99")
            }
            #expect(error?.description.contains("DB index is out of range") == true)
        }
    }

    @Test func theEndOfRedisEndsConnectionsAndIsSaid() async throws {
        try await TestRedis.serving { redis in
            let (listener, publisher) = (try await connect(redis.url), try await connect(redis.url))
            try await blocking { try listener.subscribe(to: ["a"]) }
            await redis.server.kill()
            await #expect(throws: RedisError.self) {
                try await blocking { while true { _ = try listener.messages(waitingMilliseconds: 200) } }
            }
            await #expect(throws: RedisError.self) { try await blocking { try publisher.publish([("a", "b")]) } }
            let error = await #expect(throws: RedisError.self) { _ = try await connect(redis.url) }
            #expect(error?.description.contains("cannot be reached") == true)
            try await redis.server.start()
            let again = try await connect(redis.url)
            try await blocking { try again.publish([("a", "b")]) }
        }
    }

    @Test func aRedisWithoutTLSIsRefusedWhereItIsAskedFor() async throws {
        try await TestRedis.serving { redis in
            let error = await #expect(throws: RedisError.self) {
                _ = try await connect("rediss://127.0.0.1:\(redis.port)")
            }
            #expect(error?.description.hasPrefix("rediss://127.0.0.1:\(redis.port)/0") == true)
        }
    }

    @Test func connectionsAreEncrypted() async throws {
        try await withTemporaryFolder { folder in
            let made = try await StockTools.run(
                "/usr/bin/env",
                [
                    "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", folder + "/key.pem", "-out",
                    folder + "/cert.pem",
                ])
            #expect(made.status == 0, "\(made.output)")
            let port = try await reservePort()
            let settings = [
                "--tls-port", "\(port)", "--tls-cert-file", folder + "/cert.pem", "--tls-key-file",
                folder + "/key.pem", "--tls-auth-clients", "no",
            ]
            try await TestRedis.serving(settings) { _ in
                let url = "rediss://localhost:\(port)"
                let listener = try await connect("\(url)?ca=\(folder)/cert.pem")
                try await blocking { try listener.subscribe(to: ["a"]) }
                let publisher = try await connect("\(url)?ca=\(folder)/cert.pem")
                try await blocking { try publisher.publish([("a", "hidden")]) }
                #expect(try await take(1, from: listener) == ["hidden"])
                // The system does not know its authority.
                await #expect(throws: RedisError.self) { _ = try await connect(url) }
            }
        }
    }
}
