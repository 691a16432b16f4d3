import Backend
import Foundation
import Identity
import MonicaAPI

extension OperatorContext {
    /// The service for operators' commands, which take no uploads.
    ///
    /// - Parameter secret: The key for links to photos, where there are any.
    fileprivate func monica(_ secret: Secret = Secret([])) throws -> MonicaService {
        MonicaService(
            database: database, objects: try makeObjects(), photos: { _, _ in nil }, initials: { _, _, _ in [] },
            secret: secret,
            settings: .init(publicURL: publicURL))
    }
}

extension MonicaService {
    /// Creates a personal access token, and prints it.
    public struct CreateToken: OperatorCommand {
        public static let name = "monica token create"
        public static let role = OperatorRole.all
        public static let makesDatabase = true

        var account: String
        var email: String
        /// The token's name.
        var token: String
        var dialect: Monica.TokenDialect

        /// - Parameters:
        ///   - email: The owner's address, for a new account.
        ///   - token: The name of the token.
        ///   - dialect: The form of the answers that its holder gets.
        public init(account: String, email: String, token: String, dialect: Monica.TokenDialect = .contract) {
            self.account = account
            self.email = email
            self.token = token
            self.dialect = dialect
        }

        public func run(in context: OperatorContext) async throws {
            try await context.print(
                try await context.monica().makeToken(
                    account: account, email: email, name: token, dialect: dialect, audit: context.audit))
        }
    }

    /// Prints the tokens.
    public struct ListTokens: OperatorCommand, PrintingCommand {
        package typealias Entry = IssuedToken
        public static let name = "monica token list"
        public static let role = OperatorRole.all

        var account: String?
        var format: ListFormat

        /// - Parameter account: The name of an account; nil for the tokens of all accounts.
        public init(account: String?, format: ListFormat) {
            self.account = account
            self.format = format
        }

        public func run(in context: OperatorContext) async throws {
            let tokens = try await context.monica().listTokens(account: account)
            if tokens.isEmpty { try await context.printNone("No tokens", as: format) }
            for token in tokens {
                let entry = IssuedToken(
                    number: token.id, account: token.account, name: token.name, createdAt: .init(token.createdAt),
                    lastUsedAt: token.lastUsedAt.map(PersonRecord.Moment.init),
                    dialect: token.dialect == .contract ? nil : token.dialect.rawValue)
                // Number, account, name, time of creation, time of the last use, dialect, with tabs between them.
                try await print(entry, as: format, on: context.console) {
                    let used = $0.lastUsedAt.map { "\($0)" } ?? "never"
                    let dialect = $0.dialect.map { "\t\($0)" } ?? ""
                    return ["\($0.number)\t\($0.account)\t\($0.name)\t\($0.createdAt)\t\(used)\(dialect)"]
                }
            }
        }
    }

    /// Revokes a token.
    public struct RevokeToken: OperatorCommand {
        public static let name = "monica token revoke"
        public static let role = OperatorRole.all

        var number: Int

        public init(_ number: Int) { self.number = number }

        public func run(in context: OperatorContext) async throws {
            guard try await context.monica().revokeToken(number, audit: context.audit) else {
                throw OperatorError("There is no token \(number): see concord monica token list")
            }
        }
    }

    /// Makes a code with which the owner of an account signs in to an app once, and prints it.
    public struct CreateCode: OperatorCommand {
        public static let name = "monica code"
        public static let role = OperatorRole.all

        var account: String

        /// - Parameter account: The name of an account.
        public init(account: String) { self.account = account }

        public func run(in context: OperatorContext) async throws {
            guard let code = try await context.monica().makeSignInCode(for: account, audit: context.audit) else {
                throw OperatorError("There is no account '\(account)': concord monica token create makes one")
            }
            try await context.print(code)
        }
    }

    /// Registers an app that may ask for access to accounts, and prints its client id and its secret.
    public struct RegisterApp: OperatorCommand {
        public static let name = "monica app register"
        public static let role = OperatorRole.all
        public static let makesDatabase = true

        /// The app's name, which people see when they sign in.
        var app: String
        var redirect: String
        var hasSecret: Bool

        /// - Parameters:
        ///   - redirect: The URL to which a browser is sent with the answer.
        ///   - hasSecret: Whether the app gets a secret.
        public init(_ app: String, redirect: String, hasSecret: Bool) {
            self.app = app
            self.redirect = redirect
            self.hasSecret = hasSecret
        }

        public func run(in context: OperatorContext) async throws {
            let (clientID, secret) = try await context.monica().registerApp(
                named: app, redirect: redirect, hasSecret: hasSecret, audit: context.audit)
            try await context.print("client id: \(clientID)")
            if let secret { try await context.print("client secret: \(secret)") }
        }
    }

    /// Prints the apps.
    public struct ListApps: OperatorCommand, PrintingCommand {
        package typealias Entry = RegisteredApp
        public static let name = "monica app list"
        public static let role = OperatorRole.all

        var format: ListFormat

        public init(format: ListFormat) { self.format = format }

        public func run(in context: OperatorContext) async throws {
            let apps = try await context.monica().listApps()
            if apps.isEmpty { try await context.printNone("No apps", as: format) }
            for app in apps {
                // Number, name, client id, redirect URL, number of tokens, with tabs between them.
                try await print(app, as: format, on: context.console) {
                    ["\($0.number)\t\($0.name)\t\($0.clientID)\t\($0.redirect)\t\($0.tokens)"]
                }
            }
        }
    }

    /// Removes an app, and revokes its tokens.
    public struct RemoveApp: OperatorCommand {
        public static let name = "monica app remove"
        public static let role = OperatorRole.all

        var number: Int64

        public init(_ number: Int64) { self.number = number }

        public func run(in context: OperatorContext) async throws {
            guard try await context.monica().removeApp(number, audit: context.audit) else {
                throw OperatorError("There is no app \(number): see concord monica app list")
            }
        }
    }

    /// Changes the settings of an account, and prints them.
    public struct SetAccount: OperatorCommand {
        public static let name = "monica account set"
        public static let role = OperatorRole.all

        var account: String
        var settings: AccountSettings

        /// - Parameter account: The name of an account.
        public init(account: String, _ settings: AccountSettings) {
            self.account = account
            self.settings = settings
        }

        public func run(in context: OperatorContext) async throws {
            let service = try context.monica()
            if let zone = settings.zone, service.zones.zone(named: zone) == nil {
                throw OperatorError("'\(zone)' is not the name of a time zone: write one such as Europe/Paris")
            }
            guard let settings = try await service.change(settings, of: account, audit: context.audit) else {
                throw OperatorError("There is no account '\(account)'")
            }
            let (email, zone) = (settings.email ?? "", settings.zone ?? "")
            try await context.print(
                """
                e-mail address: \(email.isEmpty ? "none" : email)
                reminded at: \(settings.reminderHour ?? 0):00, \(zone)
                """)
        }
    }

    /// Imports vCards as contacts. The cards arrive as the command's input.
    public struct ImportCards: OperatorCommand {
        public static let name = "monica import"
        public static let role = OperatorRole.all
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
                let result = try await context.monica().importCards(
                    into: account, overwriting: overwrite,
                    progress: { try await context.console.show($0, of: count) }, next: next)
                try await context.database.write { [audit = context.audit, account] in
                    try audit.record(account, in: $0)
                }
                try await context.console.write(Array(ImportSummary(result, findings).text.utf8))
            } catch let refusal as MonicaService.ImportRefused {
                throw OperatorError("Nothing was imported. \(refusal)")
            } catch is CancellationError {
                throw OperatorError("Nothing was imported: the server was stopped")
            }
        }
    }

    /// Imports the records of an export. They arrive as the command's input.
    public struct ImportRecords: OperatorCommand {
        public static let name = "monica import json"
        public static let role = OperatorRole.all
        public static let makesDatabase = true

        var account: String
        /// The number of records in the file's lists.
        var count: Int

        public init(account: String, count: Int) {
            self.account = account
            self.count = count
        }

        /// Some records, with the number of those that are read by then.
        public struct Piece: Codable, Sendable {
            var done: Int
            var records: [ImportedRecord]

            public init(done: Int, records: [ImportedRecord]) {
                self.done = done
                self.records = records
            }
        }

        public func run(in context: OperatorContext) async throws {
            do {
                // Only a server knows for certain where its files are.
                let server = context.service as? MonicaService
                let report = try await (server ?? context.monica()).importRecords(
                    into: account, storingFiles: server != nil,
                    progress: { try await context.console.show($0, of: count) }, next: { try await next(from: context) }
                )
                try await context.database.write { [audit = context.audit, account] in
                    try audit.record(account, in: $0)
                }
                try await context.console.write(Array(RecordSummary(report: report).text.utf8))
            } catch let refusal as MonicaService.ImportRefused {
                throw OperatorError("The import has stopped. \(refusal)")
            } catch is CancellationError {
                throw OperatorError(
                    "The import has stopped, because the server was. Start it again: nothing is imported twice")
            }
        }

        private func next(from context: OperatorContext) async throws -> (done: Int, records: [ImportedRecord])? {
            try await context.console.read().map { bytes in
                let piece = try JSONDecoder().decode(Piece.self, from: Data(bytes))
                return (piece.done, piece.records)
            }
        }
    }

    /// Writes an account's data to standard output.
    public struct ExportAccount: OperatorCommand {
        public static let name = "monica export"
        public static let role = OperatorRole.all

        var account: String
        var format: MonicaService.ExportFormat

        public init(account: String, format: MonicaService.ExportFormat) {
            self.account = account
            self.format = format
        }

        public func run(in context: OperatorContext) async throws {
            let secret = format == .json ? try context.secret(HostedMonica.requestKey) : Secret([])
            let isThere = try await context.monica(secret).export(format, of: account, audit: context.audit) {
                try await context.console.write($0)
            }
            guard isThere else { throw OperatorError("There is no account '\(account)'") }
            if format == .json { try await context.print("") }
        }
    }
}

/// The commands on personal access tokens, for the operator's page.
struct MonicaTokenCommands: TokenCommands {
    func creating(_ name: String, of account: String) -> any OperatorCommand {
        MonicaService.CreateToken(account: account, email: "", token: name)
    }

    func listing(of account: String) -> any OperatorCommand {
        MonicaService.ListTokens(account: account, format: .json)
    }

    func revoking(_ number: Int) -> any OperatorCommand { MonicaService.RevokeToken(number) }
}
