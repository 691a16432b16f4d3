import Backend

extension GTSDService {
    /// Deactivates or reactivates accounts.
    public struct SwitchAccounts: OperatorCommand {
        public static let name = "admin gtsd"

        /// The e-mail addresses of accounts to deactivate.
        var deactivate: [String]
        /// The e-mail addresses of accounts to reactivate.
        var activate: [String]

        public init(off deactivate: [String], on activate: [String]) {
            self.deactivate = deactivate
            self.activate = activate
        }

        public func run(in context: OperatorContext) async throws {
            let changes = deactivate.map { ($0, false) } + activate.map { ($0, true) }
            try await context.change(
                changes, printing: { $0 ? "is switched on" : "is switched off" },
                { try await GTSDService.setActive($0, email: $1, in: context.database) })
        }
    }
}
