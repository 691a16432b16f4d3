import Backend
import Database

extension GTSDService {
    /// Ends all sessions.
    public struct SignOutEverybody: OperatorCommand {
        public static let name = "gtsd sign-out-everybody"
        public static let role = OperatorRole.all

        public init() {}

        public func run(in context: OperatorContext) async throws {
            try await context.database.write { [audit = context.audit] in try audit.record("", in: $0) }
            var count = 0
            while true {
                let ended = try await context.database.write { try TokenSessions<UserID>.endSome(in: $0) }
                if ended.isEmpty { break }
                count += ended.count
            }
            try await context.printEnd(ofSessions: count)
        }
    }

    /// Switches accounts on.
    public struct Activate: OperatorCommand {
        public static let name = "gtsd activate"
        public static let role = OperatorRole.all

        /// The e-mail addresses of the accounts.
        var accounts: [String]

        public init(_ accounts: [String]) { self.accounts = accounts }

        public func run(in context: OperatorContext) async throws {
            try await context.change(accounts, printing: "is switched on") {
                try await GTSDService.setActive(true, email: $0, in: context.database, audit: context.audit)
            }
        }
    }

    /// Switches accounts off.
    public struct Deactivate: OperatorCommand {
        public static let name = "gtsd deactivate"
        public static let role = OperatorRole.all

        /// The e-mail addresses of the accounts.
        var accounts: [String]

        public init(_ accounts: [String]) { self.accounts = accounts }

        public func run(in context: OperatorContext) async throws {
            try await context.change(accounts, printing: "is switched off") {
                try await GTSDService.setActive(false, email: $0, in: context.database, audit: context.audit)
            }
        }
    }
}
