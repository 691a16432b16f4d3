import Backend

extension DunbarService {
    /// Makes users admins or removes that right, and prints what users have reported.
    public struct Administer: OperatorCommand {
        public static let name = "admin dunbar"

        /// The names of users who become admins.
        var promote: [String]
        /// The names of users who are no longer admins.
        var demote: [String]
        /// Whether the newest reports are printed.
        var reports: Bool

        public init(promote: [String], demote: [String], reports: Bool) {
            self.promote = promote
            self.demote = demote
            self.reports = reports
        }

        public func run(in context: OperatorContext) async throws {
            let changes = promote.map { ($0, true) } + demote.map { ($0, false) }
            try await context.change(
                changes, printing: { $0 ? "is an admin" : "is no longer an admin" },
                { try await DunbarService.setAdmin($0, $1, in: context.database) })
            if reports { try await printReports(in: context) }
        }

        private func printReports(in context: OperatorContext) async throws {
            let reports = try await DunbarService.reports(limit: 1000, in: context.database)
            if reports.isEmpty { try await context.print("No reports") }
            for report in reports {
                // Users' texts are printed in quotes, with characters escaped that could move a terminal's cursor.
                let files = report.mediaCount == 0 ? "" : ", \(report.mediaCount) files"
                let details = report.details.map { ": \($0.debugDescription)" } ?? ""
                try await context.print("\(report.createdAt) \(report.reason), report \(report.id)")
                try await context.print(
                    "    post \(report.post) of \(report.author): \(report.content.debugDescription)\(files)")
                try await context.print("    reported by \(report.reporter)\(details)")
            }
        }
    }
}
