import ArgumentParser
import Foundation
import Mail

/// The command `concord mail`.
struct MailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mail", abstract: "Try the mail server.", subcommands: [Test.self])

    /// `concord mail test`: sends an e-mail with the server's settings.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test e-mail.",
            discussion: """
                concord mail test anna@example.com

                Sends an e-mail through the mail server that 'concord serve' would use, and says whether the mail server \
                has taken it. Whether it arrives is in the mailbox: look into the folder of junk, too. The server of \
                Concord may be running. Exits with 1 when the e-mail was not taken.
                """)

        @Argument(help: "The address that receives the e-mail.")
        var address: String

        @OptionGroup var mail: MailOptions
        @OptionGroup var data: DataOption

        func run() async throws {
            let environment = try data.environment()
            guard let server = try mail.server(environment) else {
                throw MailError(
                    "no mail server is set, so e-mails are files in \(try data.folder(environment))/mail: set CONCORD_SMTP",
                    isTransient: false)
            }
            let sender = try mail.sender(environment)
            try await SMTPMailer(server, from: sender, now: { Int64(Date().timeIntervalSince1970) }).send(
                MailMessage(
                    from: "Concord", to: address, subject: "Test",
                    text: "This is a test of Concord's mail server. Its e-mails come from \(sender).\n"))
            print("\(server.host):\(server.port) has taken the e-mail from \(sender) to \(address).")
        }
    }
}
