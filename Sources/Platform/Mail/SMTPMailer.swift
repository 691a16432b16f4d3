import Foundation
import NIOCore
import NIOPosix

/// Sends e-mails to a mail server (RFC 5321), with one connection for each.
public struct SMTPMailer: Mailer {
    private let server: SMTPServer
    private let sender: String
    private let timeout: TimeAmount
    private let group: any EventLoopGroup
    private let now: @Sendable () -> Int64

    /// Makes a mailer.
    ///
    /// - Parameters:
    ///   - sender: The sender's address of e-mails.
    ///   - timeout: The time limit for a whole e-mail.
    ///   - now: Returns the seconds since 1970.
    public init(
        _ server: SMTPServer, from sender: String, timeout: TimeAmount = .seconds(30),
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, now: @escaping @Sendable () -> Int64
    ) {
        self.server = server
        self.sender = sender
        self.timeout = timeout
        self.group = group
        self.now = now
    }

    public func send(_ message: MailMessage) async throws {
        let email = try InternetMessage(message, from: sender, at: now(), id: UUID().uuidString.lowercased())
        let connection: SMTPConnection
        do {
            connection = try await SMTPConnection.open(server, timeout: timeout, group: group)
        } catch let error as MailError {
            throw error
        } catch {
            throw MailError("\(server.host):\(server.port) cannot be reached: \(error)", isTransient: true)
        }
        defer { connection.close() }
        do {
            // A task that is cancelled does not wait for the mail server.
            try await withTaskCancellationHandler {
                try await SMTPSession(connection: connection, server: server).send(email, from: sender, to: message.to)
            } onCancel: {
                connection.close()
            }
        } catch {
            throw error as? MailError ?? MailError("\(server.host):\(server.port): \(error)", isTransient: true)
        }
    }
}

/// The dialogue on one connection.
private struct SMTPSession {
    let connection: SMTPConnection
    let server: SMTPServer

    func send(_ email: InternetMessage, from sender: String, to recipient: String) async throws {
        try await connection.reply().require(220, at: "the greeting")
        var offers = try await hello()
        if server.encryption == .startTLS {
            guard offers["STARTTLS"] != nil else {
                throw MailError("\(server.host) offers no STARTTLS", isTransient: false)
            }
            try await connection.say("STARTTLS").require(220, at: "STARTTLS")
            try await connection.encrypt()
            // Extensions that were announced unencrypted must be dropped (RFC 3207 §4.2).
            offers = try await hello()
        }
        if let user = server.user, let password = server.password {
            try await authenticate(user, password, offers["AUTH"] ?? [])
        }
        let isInternational = !(sender + recipient).utf8.allSatisfy { $0 < 0x80 }
        if isInternational, offers["SMTPUTF8"] == nil {
            throw MailError("\(server.host) takes no address beyond ASCII (RFC 6531)", isTransient: false)
        }
        let extra = isInternational ? " SMTPUTF8" : ""
        try await connection.say("MAIL FROM:<\(sender)>\(extra)").require(250, at: "MAIL")
        let taken = try await connection.say("RCPT TO:<\(recipient)>")
        if taken.code != 251 { try taken.require(250, at: "RCPT") }
        try await connection.say("DATA").require(354, at: "DATA")
        try await connection.say(Self.stuffed(email.text) + ".").require(250, at: "the e-mail")
        // The server has accepted the e-mail, so the answer to QUIT does not matter.
        _ = try? await connection.say("QUIT")
    }

    /// Returns the server's extensions with their parameters, by their names in capitals.
    private func hello() async throws -> [String: [String]] {
        let reply = try await connection.say("EHLO \(connection.ownName)")
        try reply.require(250, at: "EHLO")
        var offers: [String: [String]] = [:]
        for line in reply.lines.dropFirst() {
            let words = line.uppercased().split(separator: " ").map(String.init)
            if let name = words.first { offers[name] = Array(words.dropFirst()) }
        }
        return offers
    }

    /// Authenticates with PLAIN (RFC 4616), or with LOGIN, which some servers have instead.
    private func authenticate(_ user: String, _ password: String, _ mechanisms: [String]) async throws {
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        if mechanisms.contains("PLAIN") {
            let reply = try await connection.say("AUTH PLAIN " + base64("\0\(user)\0\(password)"))
            return try reply.require(235, at: "AUTH")
        }
        guard mechanisms.contains("LOGIN") else {
            throw MailError("\(server.host) offers neither AUTH PLAIN nor AUTH LOGIN", isTransient: false)
        }
        try await connection.say("AUTH LOGIN").require(334, at: "AUTH")
        try await connection.say(base64(user)).require(334, at: "AUTH")
        try await connection.say(base64(password)).require(235, at: "AUTH")
    }

    /// Doubles the full stop at the beginning of a line (RFC 5321 §4.5.2).
    static func stuffed(_ text: String) -> String {
        (text.hasPrefix(".") ? "." : "") + text.replacingOccurrences(of: "\r\n.", with: "\r\n..")
    }
}
