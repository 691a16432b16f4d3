import Foundation
import NIOCore
import NIOPosix
import Testbed
import Testing

@testable import Mail

/// The client talks to a stock mail server, PyPI's `aiosmtpd`.
@Suite(
    .enabled(if: StockTools.python != nil, "`make test` installs the server and sets CONCORD_PYTHON"),
    .timeLimit(.minutes(30)))
struct SMTPTests {
    /// An e-mail as the server received it.
    private struct Taken: Decodable, Equatable {
        var from: String
        var to: [String]
        var data: String
        var encrypted: Bool
        var authenticated: Bool
        var utf8: Bool
    }

    private struct Running {
        let port: Int
        let certificate: String
        let output: Output

        func mailer(_ url: String) throws -> SMTPMailer {
            SMTPMailer(
                try #require(SMTPServer(url)), from: "concord@example.com", timeout: .minutes(5), now: { 1_771_840_800 }
            )
        }

        var taken: [Taken] {
            get throws {
                try output.text.split(separator: "\n").dropFirst().map {
                    try JSONDecoder().decode(Taken.self, from: Data($0.utf8))
                }
            }
        }

        /// Returns the e-mails once the server has printed this number of them.
        func taken(_ count: Int) async throws -> [Taken] {
            if try taken.count >= count { return try taken }
            for await _ in output.texts where try taken.count >= count { break }
            return try taken
        }
    }

    private func withServer(
        _ arguments: String..., encrypted: Bool = false, _ body: (Running) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let (key, certificate) = (folder + "/key.pem", folder + "/certificate.pem")
            var arguments = arguments
            if encrypted {
                let made = try await StockTools.run(
                    "/usr/bin/openssl",
                    [
                        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate,
                    ])
                try #require(made.status == 0, "\(made.output)")
                arguments += ["--certificate", certificate, "--key", key]
            }
            let port = try await reservePort()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(StockTools.python))
            process.arguments = [StockTools.package + "/Tests/StockClient/smtp.py", "\(port)"] + arguments
            let (input, output, errors) = (Input(), Output(), Output())
            process.standardInput = input.end
            process.standardOutput = output.end
            process.standardError = errors.end
            let ending = try ProcessEnding(running: process)
            input.begin()
            output.begin()
            errors.begin()
            var isReady = false
            for await text in output.texts where text.contains("ready\n") {
                isReady = true
                break
            }
            let failure = errors.text
            try #require(isReady, "\(failure)")
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(Running(port: port, certificate: certificate, output: output)))
            } catch {
                result = .failure(error)
            }
            input.finish()
            _ = await ending.status
            try result.get()
        }
    }

    private let hello = MailMessage(to: "jdoe@example.com", subject: "Hello", text: "One\n.\n..two\n.three\n")

    private func expect(_ email: Taken?, line: SourceLocation = #_sourceLocation) throws {
        let email = try #require(email, sourceLocation: line)
        #expect(email.from == "concord@example.com", sourceLocation: line)
        #expect(email.to == ["jdoe@example.com"], sourceLocation: line)
        #expect(email.data.contains("Subject: Hello\r\n"), sourceLocation: line)
        #expect(email.data.hasSuffix("\r\n\r\nOne\r\n.\r\n..two\r\n.three\r\n\r\n"), sourceLocation: line)
    }

    @Test func inTheClear() async throws {
        try await withServer { server in
            let mailer = try server.mailer("smtp://127.0.0.1:\(server.port)?tls=none")
            try await mailer.send(hello)
            try await mailer.send(hello)
            let taken = try await server.taken(2)
            try expect(taken.first)
            #expect(taken.map(\.encrypted) == [false, false])
        }
    }

    @Test(arguments: [false, true])
    func underSTARTTLSWithAPassword(_ hasOnlyLogin: Bool) async throws {
        let arguments = ["--mode", "starttls", "--auth"] + (hasOnlyLogin ? ["--login"] : [])
        try await withServer(arguments[0], arguments[1], arguments[2], arguments.last ?? "", encrypted: true) {
            server in
            let url = "smtp://concord:p%40ss%20word@localhost:\(server.port)?ca=\(server.certificate)"
            try await server.mailer(url).send(hello)
            let taken = try await server.taken(1)
            try expect(taken.first)
            #expect(taken.first?.encrypted == true)
            #expect(taken.first?.authenticated == true)
            let wrong = try server.mailer(url.replacingOccurrences(of: "p%40ss", with: "wrong"))
            await #expect(
                throws: MailError(
                    "the mail server refused AUTH: 535 5.7.8 Authentication credentials invalid", isTransient: false)
            ) {
                try await wrong.send(hello)
            }
        }
    }

    @Test func underTLSFromTheStart() async throws {
        try await withServer("--mode", "implicit", encrypted: true) { server in
            try await server.mailer("smtps://127.0.0.1:\(server.port)?ca=\(server.certificate)").send(hello)
            let taken = try await server.taken(1)
            try expect(taken.first)
            #expect(taken.first?.encrypted == true)
        }
    }

    @Test func anUntrustedCertificateIsRefused() async throws {
        try await withServer("--mode", "starttls", encrypted: true) { server in
            let error = await #expect(throws: MailError.self) {
                try await server.mailer("smtp://localhost:\(server.port)").send(hello)
            }
            #expect(error?.description.contains("CERTIFICATE_VERIFY_FAILED") == true, "\(error as Any)")
            let taken = try server.taken
            #expect(taken == [])
        }
    }

    /// An e-mail with a link that opens an account is never sent unencrypted by accident.
    @Test func withoutSTARTTLSNothingIsSent() async throws {
        try await withServer { server in
            await #expect(throws: MailError("127.0.0.1 offers no STARTTLS", isTransient: false)) {
                try await server.mailer("smtp://127.0.0.1:\(server.port)").send(hello)
            }
            let taken = try server.taken
            #expect(taken == [])
        }
    }

    @Test func refusals() async throws {
        try await withServer("--ascii") { server in
            let mailer = try server.mailer("smtp://127.0.0.1:\(server.port)?tls=none")
            for (address, words, isTransient) in [
                ("nobody@example.com", "refused RCPT: 550 no such mailbox", false),
                ("later@example.com", "refused RCPT: 451 try again later", true),
                ("jürgen@example.com", "takes no address beyond ASCII", false), ("no address", "no address", false),
            ] {
                let error = await #expect(throws: MailError.self) {
                    try await mailer.send(.init(to: address, subject: "", text: ""))
                }
                #expect(error?.description.contains(words) == true, "\(error as Any)")
                #expect(error?.isTransient == isTransient)
            }
        }
    }

    @Test func addressesBeyondASCII() async throws {
        try await withServer { server in
            let mailer = try server.mailer("smtp://127.0.0.1:\(server.port)?tls=none")
            try await mailer.send(.init(to: "jürgen@exämple.com", subject: "Grüße", text: "Grüße"))
            let taken = try await server.taken(1)
            #expect(taken.first?.to == ["jürgen@exämple.com"])
            #expect(taken.first?.utf8 == true)
        }
    }

    @Test func anUnreachableServerIsAnErrorThatMayPass() async throws {
        let port = try await reservePort()
        let mailer = SMTPMailer(
            try #require(SMTPServer("smtp://127.0.0.1:\(port)?tls=none")), from: "a@b", now: { 0 })
        let error = await #expect(throws: MailError.self) { try await mailer.send(hello) }
        #expect(error?.isTransient == true)
        #expect(error?.description.contains("cannot be reached") == true)
    }

    /// The server does not speak SMTP, says too much, or says nothing.
    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "this is no mail server", false),
        ("554 go away\r\n", "refused the greeting: 554 go away", false),
        ("421 busy\r\n", "refused the greeting: 421 busy", true),
        ("220-" + String(repeating: "x", count: 70_000), "says too much", false),
        ("", "closed the connection, or took too long", true),
        // Text that is sent before TLS must not count after it (RFC 3207 §4.2).
        ("220 hi\r\n|250-hi\r\n250 STARTTLS\r\n|220 go\r\n250 AUTH PLAIN\r\n", "said more before TLS", false),
    ])
    func strangeServers(_ script: String, _ words: String, _ isTransient: Bool) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Script(script.split(separator: "|").map(String.init)))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        let encryption = script.contains("STARTTLS") ? "" : "?tls=none"
        let mailer = SMTPMailer(
            try #require(SMTPServer("smtp://127.0.0.1:\(port)\(encryption)")), from: "a@b",
            timeout: script.isEmpty ? .seconds(10) : .seconds(600), now: { 0 })
        let error = await #expect(throws: MailError.self) { try await mailer.send(hello) }
        #expect(error?.description.contains(words) == true, "\(error as Any)")
        #expect(error?.isTransient == isTransient)
        try await channel.close()
    }

    /// Sends the first part of a script at once, and the next part whenever bytes arrive.
    private final class Script: ChannelInboundHandler, @unchecked Sendable {
        typealias InboundIn = ByteBuffer

        private var lines: [String]

        init(_ lines: [String]) { self.lines = lines }

        func channelActive(context: ChannelHandlerContext) { say(context) }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { say(context) }

        private func say(_ context: ChannelHandlerContext) {
            guard !lines.isEmpty else { return }
            context.writeAndFlush(NIOAny(ByteBuffer(string: lines.removeFirst())), promise: nil)
        }
    }

    @Test(arguments: [
        ("smtps://mail.example.com", "mail.example.com", 465, SMTPServer.Encryption.fromTheStart, nil),
        ("smtp://mail.example.com", "mail.example.com", 587, .startTLS, nil),
        ("smtp://u:p%40%2F@mail.example.com:2525/", "mail.example.com", 2525, .startTLS, "p@/"),
        ("smtp://localhost?tls=none", "localhost", 25, .none, nil), ("smtp://[::1]:25?tls=none", "::1", 25, .none, nil),
    ])
    func places(
        _ url: String, _ host: String, _ port: Int, _ encryption: SMTPServer.Encryption, _ password: String?
    ) throws {
        let server = try #require(SMTPServer(url))
        #expect(server.host == host)
        #expect(server.port == port)
        #expect(server.encryption == encryption)
        #expect(server.password == password)
    }

    @Test(arguments: [
        "", "mail.example.com", "http://mail.example.com", "smtp://", "smtp://u@host", "smtp://u:p@host?tls=none",
        "smtps://host?tls=none", "smtp://host?tls=off", "smtp://host/path", "smtp://host?x=y",
    ])
    func invalidURLsAreRefused(_ url: String) { #expect(SMTPServer(url) == nil) }
}
