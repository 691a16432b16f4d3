import Backend
import Database
import MessengerAPI

extension MessengerService {
    /// Ends all sessions and sockets.
    public struct SignOutEverybody: OperatorCommand {
        public static let name = "messenger sign-out-everybody"
        public static let role = OperatorRole.all

        public init() {}

        public func run(in context: OperatorContext) async throws {
            let count = try await MessengerService.endAllSessions(
                in: context.database, of: context.service as? MessengerService, audit: context.audit)
            try await context.printEnd(ofSessions: count)
        }
    }
}
