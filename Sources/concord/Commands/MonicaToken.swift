import ArgumentParser
import Foundation
import MonicaService

/// Personal access tokens of Monica.
struct MonicaToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monica",
        abstract: "Make, list and revoke personal access tokens of Monica.",
        discussion: """
            TOKEN=$(concord token monica --account alice)

            The token is shown once; the server keeps its digest. The account is made when there is none of that name. \
            The server may be running: a token that is revoked is dead within a second.
            """,
        subcommands: [Create.self, List.self, Revoke.self], defaultSubcommand: Create.self)

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print a new token, and nothing else.")

        @Option(help: "Whose it is: a name of 1 to 255 characters.")
        var account: String

        @Option(help: "The owner's e-mail address, for a new account.")
        var email = ""

        @Option(help: "Tells the account's tokens apart.")
        var name = "command line"

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            for text in [account, name] where !(1...255 ~= text.unicodeScalars.count) || text.contains("\0") {
                throw ValidationError("--account and --name are 1 to 255 characters")
            }
        }

        func run() async throws { try await place.perform(Work(account: account, email: email, token: name)) }

        struct Work: Operation {
            static let name = "token monica"
            static let api = OperatedAPI.monica
            static let makesDatabase = true

            var account: String
            var email: String
            /// The token's name.
            var token: String

            func run(in context: OperationContext) async throws {
                try await context.print(
                    try await context.monica.makeToken(account: account, email: email, name: token))
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List tokens: number, account, name, made, last used.")

        @Option(help: "Only those of this account.")
        var account: String?

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(Work(account: account)) }

        struct Work: Operation {
            static let name = "token monica list"
            static let api = OperatedAPI.monica

            var account: String?

            func run(in context: OperationContext) async throws {
                for token in try await context.monica.listTokens(account: account) {
                    let used = token.lastUsedAt.map(Self.time) ?? "never"
                    try await context.print(
                        "\(token.id)\t\(token.account)\t\(token.name)\t\(Self.time(token.createdAt))\t\(used)")
                }
            }

            private static func time(_ milliseconds: Int64) -> String {
                Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a token, by its number in the list.")

        @Argument(help: "The token's number.")
        var number: Int

        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(Work(number: number)) }

        struct Work: Operation {
            static let name = "token monica revoke"
            static let api = OperatedAPI.monica

            var number: Int

            func run(in context: OperationContext) async throws {
                guard try await context.monica.revokeToken(number) else {
                    throw OperationRefused("There is no token \(number): see concord token monica list")
                }
            }
        }
    }
}

extension OperationContext {
    /// Monica, as operators see it: nothing that they do needs the secret of the requests.
    var monica: MonicaService { MonicaService(database: database, secret: [], settings: .init(publicURL: publicURL)) }
}
