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
            print(try await mail.testSender(environment, folder: try data.folder(environment))(address))
        }
    }
}
