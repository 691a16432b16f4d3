import ArgumentParser
import Backend
import Foundation

/// The command `concord audit`.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List what operators and admins have done.",
        discussion: """
            concord audit
            concord audit dunbar --since 7d --json

            An entry has the time, the API, who did it, what, and to whom: commands that change or export something, \
            backups, restores, moves, new keys, and what Dunbar's admins change and delete of others. It was written along with the change itself. Entries are kept for 400 days, and at most the newest \
            10,000 of each action. An operator's name is that of the account on the machine, before sudo. The server may \
            be running.
            """)

    @Argument(help: "The APIs: \(ConcordAPI.names.joined(separator: ", ")). By default all.")
    var apis: [String] = []

    @Option(
        help: ArgumentHelp(
            "Begin at a time, such as 2026-11-23 or 2026-11-23T08:00:00Z, or some time ago: 90m, 12h or 7d.",
            valueName: "time"))
    var since: String?

    @OptionGroup var listing: ListOptions
    @OptionGroup var data: DatabaseOptions

    func validate() throws {
        for name in apis { _ = try ConcordAPI.named(name) }
        if let since, Self.time(since, now: Date()) == nil {
            throw ValidationError("--since must be like 2026-11-23, 2026-11-23T08:00:00Z, 12h or 7d, not '\(since)'")
        }
    }

    func run() async throws {
        let environment = try data.data.environment()
        let since = since.flatMap { Self.time($0, now: Date()) } ?? .distantPast
        let command = PrintAudit(
            of: apis, since: Int64(since.timeIntervalSince1970 * 1000), format: listing.format)
        try await OperatorClient(
            folder: try data.folder(environment), database: try data.given(environment),
            environment: environment.variables
        ).perform(
            command, try data.settings(environment), known: ConcordAPI.all.map(\.hosted),
            console: TerminalConsole(input: { nil }))
    }

    /// Reads a time: a day, a time in UTC, or a duration before now.
    static func time(_ text: String, now: Date) -> Date? {
        let units: [Character: Double] = ["m": 60, "h": 3600, "d": 86_400]
        if let unit = text.last.flatMap({ units[$0] }), let count = Int32(text.dropLast()), count >= 0 {
            return now - Double(count) * unit
        }
        return (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: .iso8601.year().month().day()))
    }
}
