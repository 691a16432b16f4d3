import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A reply of a mail server: a code, and a text in one or more lines (RFC 5321 §4.2).
struct SMTPReply: Sendable, Equatable {
    var code: Int
    var lines: [String]

    /// - Throws: ``MailError`` with the server's reply when it has another code. An error with 4xx is temporary, one
    ///   with 5xx is not (RFC 5321 §4.2.1).
    func require(_ expected: Int, at step: String) throws(MailError) {
        guard code != expected else { return }
        throw MailError(
            "the mail server refused \(step): \(code) \(lines.joined(separator: " ").prefix(200))",
            isTransient: !(500...599 ~= code))
    }
}

/// A connection to a mail server, with one command and one reply at a time.
final class SMTPConnection: Sendable {
    private let channel: any Channel
    private let replies: SMTPReplies
    private let tls: NIOSSLContext?
    private let host: String
    private let deadline: Scheduled<Void>

    private init(
        channel: any Channel, replies: SMTPReplies, tls: NIOSSLContext?, host: String, deadline: Scheduled<Void>
    ) {
        self.channel = channel
        self.replies = replies
        self.tls = tls
        self.host = host
        self.deadline = deadline
    }

    static func open(
        _ server: SMTPServer, timeout: TimeAmount, group: any EventLoopGroup
    ) async throws -> SMTPConnection {
        let tls = try server.encryption == .none ? nil : context(trusting: server.trustedCertificates)
        let eventLoop = group.next()
        let replies = SMTPReplies(eventLoop)
        let channel = try await ClientBootstrap(group: eventLoop)
            .connectTimeout(min(timeout, .seconds(10)))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls, server.encryption == .fromTheStart {
                        try channel.pipeline.syncOperations.addHandler(handler(tls, server.host))
                    }
                    try channel.pipeline.syncOperations.addHandler(replies)
                }
            }
            .connect(host: server.host, port: server.port).get()
        let deadline = eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        return SMTPConnection(channel: channel, replies: replies, tls: tls, host: server.host, deadline: deadline)
    }

    private static func context(trusting file: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let file { configuration.trustRoots = .file(file) }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Returns the TLS handler. SNI cannot contain an IP address (RFC 6066 §3).
    private static func handler(_ tls: NIOSSLContext, _ host: String) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
    }

    /// The name in EHLO: this side's address, because a name that cannot be looked up is no better (RFC 5321 §4.1.3).
    var ownName: String {
        guard let address = channel.localAddress, let ip = address.ipAddress else { return "localhost" }
        return address.protocol == .inet6 ? "[IPv6:\(ip)]" : "[\(ip)]"
    }

    /// Returns the next reply.
    func reply() async throws -> SMTPReply { try await replies.next().get() }

    /// Sends one or more lines, and returns the reply.
    func say(_ line: String) async throws -> SMTPReply {
        let reply = replies.next()
        do {
            try await channel.writeAndFlush(ByteBuffer(string: line + "\r\n"))
        } catch {
            // The missing reply reports the reason.
            channel.close(promise: nil)
        }
        return try await reply.get()
    }

    /// Switches to TLS. Input that arrived unencrypted cannot be a reply to later commands, so it ends the connection.
    func encrypt() async throws {
        guard let tls else { throw MailError("there is no TLS", isTransient: false) }
        let (host, replies) = (host, replies)
        try await channel.eventLoop.submit { [channel] in
            try replies.requireSilence()
            try channel.pipeline.syncOperations.addHandler(Self.handler(tls, host), position: .first)
        }.get()
    }

    func close() {
        deadline.cancel()
        channel.close(promise: nil)
    }
}

/// Parses incoming replies, and passes them to the waiting callers in order. Its state belongs to its event loop.
final class SMTPReplies: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    /// The most bytes of a reply; real replies are smaller.
    private static let limit = 65_536

    private let eventLoop: any EventLoop
    private var buffer = ByteBuffer()
    private var lines: [String] = []
    private var ready: [SMTPReply] = []
    private var waiting: [EventLoopPromise<SMTPReply>] = []
    private var failure: (any Error)?

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func next() -> EventLoopFuture<SMTPReply> {
        let promise = eventLoop.makePromise(of: SMTPReply.self)
        eventLoop.execute {
            if !self.ready.isEmpty {
                promise.succeed(self.ready.removeFirst())
            } else if let failure = self.failure {
                promise.fail(failure)
            } else {
                self.waiting.append(promise)
            }
        }
        return promise.futureResult
    }

    func requireSilence() throws {
        guard buffer.readableBytes == 0, lines.isEmpty, ready.isEmpty else {
            throw MailError("the mail server said more before TLS than was asked", isTransient: false)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var incoming = unwrapInboundIn(data)
        buffer.writeBuffer(&incoming)
        while let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let count = end - buffer.readerIndex + 1
            let line = buffer.readString(length: count) ?? ""
            receive(String(line.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }.map(Character.init)), context)
        }
        if buffer.readableBytes + lines.reduce(0, { $0 + $1.utf8.count }) > Self.limit {
            fail(MailError("the mail server says too much", isTransient: false))
            context.close(promise: nil)
        }
    }

    private func receive(_ line: String, _ context: ChannelHandlerContext) {
        let mark = line.dropFirst(3).first
        guard let code = Int(line.prefix(3)), 200...599 ~= code, mark == nil || mark == " " || mark == "-" else {
            fail(MailError("this is no mail server: \(line.prefix(100).debugDescription)", isTransient: false))
            return context.close(promise: nil)
        }
        lines.append(String(line.dropFirst(4)))
        guard mark != "-" else { return }
        let reply = SMTPReply(code: code, lines: lines)
        lines = []
        if waiting.isEmpty { ready.append(reply) } else { waiting.removeFirst().succeed(reply) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(MailError("the mail server closed the connection, or took too long", isTransient: true))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        fail(MailError("the connection ended", isTransient: true))
    }

    private func fail(_ error: any Error) {
        if failure == nil { failure = error }
        for promise in waiting { promise.fail(failure ?? error) }
        waiting = []
    }
}
