import Backend
import Database
import DunbarAPI

extension DunbarService {
    /// Makes users admins.
    public struct Promote: OperatorCommand {
        public static let name = "dunbar promote"
        public static let role = OperatorRole.all

        var users: [String]

        public init(_ users: [String]) { self.users = users }

        public func run(in context: OperatorContext) async throws {
            try await context.change(users, printing: "is an admin") {
                try await DunbarService.setAdmin(true, $0, in: context.database, audit: context.audit)
            }
        }
    }

    /// Takes the rights of admins away.
    public struct Demote: OperatorCommand {
        public static let name = "dunbar demote"
        public static let role = OperatorRole.all

        var users: [String]

        public init(_ users: [String]) { self.users = users }

        public func run(in context: OperatorContext) async throws {
            try await context.change(users, printing: "is no longer an admin") {
                try await DunbarService.setAdmin(false, $0, in: context.database, audit: context.audit)
            }
        }
    }

    /// Ends all sessions.
    public struct SignOutEverybody: OperatorCommand {
        public static let name = "dunbar sign-out-everybody"
        public static let role = OperatorRole.all

        public init() {}

        public func run(in context: OperatorContext) async throws {
            let count = try await context.database.write { [audit = context.audit] db in
                try audit.record("", in: db)
                return try CookieSessions<Dunbar.User.ID>.endAll(in: db)
            }
            try await context.printEnd(ofSessions: count)
        }
    }
}
