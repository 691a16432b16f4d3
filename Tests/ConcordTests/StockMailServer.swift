import Foundation
import Testbed
import Testing

/// PyPI's aiosmtpd, which receives what a server sends.
struct StockMailServer {
    /// What `--smtp` says for it.
    let url: String
    /// Its host and port.
    let address: String
    private let output: Output

    struct Letter: Decodable {
        let to: [String]
        let data: String

        var subject: String { line("Subject: ") ?? "" }
        var messageID: String { line("Message-ID: ") ?? "" }
        /// The lines of the text, behind the first empty line.
        var text: [String] {
            let lines = data.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
            return Array(lines.drop { !$0.isEmpty })
        }
        /// The code in the text, which has a line of its own and no spaces.
        var code: String? { text.first { $0.count > 20 && !$0.contains(" ") } }

        private func line(_ name: String) -> String? {
            data.split(separator: "\r\n").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        }
    }

    static let isThere: ConditionTrait = .enabled(
        if: StockTools.python != nil, "`make test` installs the mail server and sets CONCORD_PYTHON")

    /// Starts a mail server for a test, and ends it.
    static func serving(_ body: (StockMailServer) async throws -> Void) async throws {
        let port = try await reservePort()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(StockTools.python))
        process.arguments = [StockTools.package + "/Tests/StockClient/smtp.py", "\(port)"]
        let (input, output) = (Input(), Output())
        process.standardInput = input.end
        process.standardOutput = output.end
        let ending = try ProcessEnding(running: process)
        input.begin()
        output.begin()
        let server = StockMailServer(
            url: "smtp://127.0.0.1:\(port)?tls=none", address: "127.0.0.1:\(port)", output: output)
        await server.wait { $0.contains("ready\n") }
        do { try await body(server) } catch {
            input.finish()
            _ = await ending.status
            throw error
        }
        input.finish()
        _ = await ending.status
    }

    private func wait(for condition: (String) -> Bool) async {
        if condition(output.text) { return }
        for await text in output.texts where condition(text) { return }
    }

    private static func letters(in text: String) -> [Letter] {
        text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Letter.self, from: Data($0.utf8)) }
    }

    /// The e-mails that came until now.
    var letters: [Letter] { Self.letters(in: output.text) }

    /// Waits until this number of e-mails has come.
    func wait(for count: Int) async {
        await wait { text in text.utf8.count { $0 == UInt8(ascii: "\n") } > count }
    }

    /// Waits until this number of e-mails with different subjects has come.
    func waitForSubjects(_ count: Int) async {
        await wait(for: count)
        await wait { Set(Self.letters(in: $0).map(\.subject)).count >= count }
    }

    /// Returns the newest e-mail with a subject for an address, once there are this many of them.
    func letter(_ subject: String, to address: String, number: Int = 1) async throws -> Letter {
        func found(_ text: String) -> [Letter] {
            Self.letters(in: text).filter { $0.to == [address] && $0.subject == subject }
        }
        await wait { found($0).count >= number }
        return try #require(found(output.text).last, "no letter \(subject) to \(address) in \(output.text)")
    }
}
