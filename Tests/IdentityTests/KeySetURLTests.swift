import Foundation
import Identity
import NIOCore
import NIOPosix
import Testing

@Suite(.timeLimit(.minutes(30))) struct KeySetURLTests {
    @Test(arguments: [
        "", "issuer.example", "https:", "https://", "ftp://issuer.example/keys", "file:///etc/passwd",
        "http://issuer.example/keys", "http://localhost.example/keys", "http://127.0.0.1.example/",
    ])
    func `other addresses than https are refused`(text: String) {
        #expect(throws: KeySetFailure.self) { try KeySetURL(text) }
    }

    @Test func `addresses that can be`() throws {
        for text in [
            "https://issuer.example/.well-known/jwks.json", "http://127.0.0.1:8080/", "http://[::1]/",
            "http://localhost/",
        ] {
            _ = try KeySetURL(text)
        }
    }

    @Test func `the key set is fetched`() async throws {
        try await answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") { url in
            let keySet = try await url.fetch()
            #expect(keySet == Array("{}".utf8))
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", "answers 404"),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\n{}", "answers 302"),
        ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: " ", count: (1 << 20) + 1), "longer than 1 MiB"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", "longer than 1 MiB"),
    ])
    func `other answers are errors with an explanation`(answer: String, words: String) async throws {
        try await answering(answer) { url in
            let failure = await #expect(throws: KeySetFailure.self) { try await url.fetch() }
            #expect(failure?.description.hasSuffix(words) == true, "\(String(describing: failure))")
        }
    }

    @Test func `an unreachable server is an error`() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        let url = try KeySetURL("http://127.0.0.1:\(port)/")
        await #expect(throws: (any Error).self) { try await url.fetch() }
    }

    /// Runs a server that gives every request the same answer.
    private func answering(_ answer: String, _ body: (KeySetURL) async throws -> Void) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answer(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        do {
            // The limit is for the answer, and must not depend on how busy this machine is.
            try await body(KeySetURL("http://127.0.0.1:\(port)/keys", timeout: .minutes(10)))
        } catch {
            try await channel.close()
            throw error
        }
        try await channel.close()
    }
}

private final class Answer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer))).whenComplete { _ in
            channel.close(promise: nil)
        }
    }
}
