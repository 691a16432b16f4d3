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

    /// Prints what users have reported, the oldest report first.
    public struct PrintReports: OperatorCommand {
        public static let name = "messenger reports"
        public static let role = OperatorRole.moderate

        /// The id of the report after which the list begins.
        var after: Int64
        var format: ListFormat

        public init(after: Int64, format: ListFormat) {
            self.after = after
            self.format = format
        }

        public func run(in context: OperatorContext) async throws {
            var last = Messenger.Report.ID(after)
            while true {
                let page = try await MessengerService.reports(after: last, limit: 200, in: context.database)
                for report in page { try await context.print(report, as: format, \.lines) }
                guard let newest = page.last else { break }
                last = newest.id
            }
            if last.rawValue == after { try await context.printNone("No reports", as: format) }
        }
    }
}

extension MessengerService.FiledReport {
    /// The report for a person; users' texts are quoted.
    fileprivate var lines: [String] {
        var lines = ["\(createdAt) \(reason.quoted), report \(id)"]
        if let user { lines.append("    user \(user.text)") }
        if let message {
            let file = message.file.map { ", file \($0)" } ?? ""
            lines.append(
                "    message \(message.id) of \(message.sender.text) in chat \(message.chat): "
                    + message.content.quoted + file)
        }
        lines.append("    reported by \(reporter.text)" + (details.map { ": \($0.quoted)" } ?? ""))
        return lines
    }
}

extension MessengerService.FiledReport.Person {
    fileprivate var text: String { username.map { "\($0) (\(id))" } ?? "(deleted account)" }
}
