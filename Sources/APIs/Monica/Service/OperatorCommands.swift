import Backend
import Foundation

extension OperatorContext {
    /// The service for operators' commands, which do not need the secret for requests.
    fileprivate var monica: MonicaService {
        MonicaService(database: database, secret: [], settings: .init(publicURL: publicURL))
    }
}

extension MonicaService {
    /// Creates a personal access token, and prints it.
    public struct CreateToken: OperatorCommand {
        public static let name = "token monica"
        public static let makesDatabase = true

        var account: String
        var email: String
        /// The token's name.
        var token: String

        /// - Parameters:
        ///   - email: The owner's address, for a new account.
        ///   - token: The name of the token.
        public init(account: String, email: String, token: String) {
            self.account = account
            self.email = email
            self.token = token
        }

        public func run(in context: OperatorContext) async throws {
            try await context.print(try await context.monica.makeToken(account: account, email: email, name: token))
        }
    }

    /// Prints a line for each token: number, account, name, time of creation, time of the last use.
    public struct ListTokens: OperatorCommand {
        public static let name = "token monica list"

        var account: String?

        /// - Parameter account: The name of an account; nil for the tokens of all accounts.
        public init(account: String?) { self.account = account }

        public func run(in context: OperatorContext) async throws {
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

    /// Revokes a token.
    public struct RevokeToken: OperatorCommand {
        public static let name = "token monica revoke"

        var number: Int

        public init(_ number: Int) { self.number = number }

        public func run(in context: OperatorContext) async throws {
            guard try await context.monica.revokeToken(number) else {
                throw OperatorError("There is no token \(number): see concord token monica list")
            }
        }
    }

    /// Imports vCards as contacts. The cards arrive as the command's input.
    public struct ImportCards: OperatorCommand {
        public static let name = "import monica"
        public static let makesDatabase = true

        var account: String
        var overwrite: Bool
        /// The number of cards.
        var count: Int
        /// The findings of reading the file.
        var findings: CardFile.Findings

        public init(account: String, overwriting: Bool, count: Int, findings: CardFile.Findings) {
            self.account = account
            self.overwrite = overwriting
            self.count = count
            self.findings = findings
        }

        public func run(in context: OperatorContext) async throws {
            let next = {
                try await context.console.read().map { try JSONDecoder().decode([CardReading].self, from: Data($0)) }
            }
            do {
                let result = try await context.monica.importCards(
                    into: account, overwriting: overwrite,
                    progress: { try await context.console.show($0, of: count) }, next: next)
                try await context.console.write(Array(ImportSummary(result, findings).text.utf8))
            } catch let refusal as MonicaService.ImportRefused {
                throw OperatorError("Nothing was imported. \(refusal)")
            } catch is CancellationError {
                throw OperatorError("Nothing was imported: the server was stopped")
            }
        }
    }

    /// Writes an account's data to standard output.
    public struct ExportAccount: OperatorCommand {
        public static let name = "export monica"

        var account: String
        var format: MonicaService.ExportFormat

        public init(account: String, format: MonicaService.ExportFormat) {
            self.account = account
            self.format = format
        }

        public func run(in context: OperatorContext) async throws {
            let isThere = try await context.monica.export(format, of: account) { try await context.console.write($0) }
            guard isThere else { throw OperatorError("There is no account '\(account)'") }
            if format == .json { try await context.print("") }
        }
    }
}
