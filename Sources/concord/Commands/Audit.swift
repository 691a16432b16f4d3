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

    @Option(help: ArgumentHelp("List only so many entries, the newest ones. By default all.", valueName: "number"))
    var last: Int?

    @OptionGroup var listing: ListOptions
    @OptionGroup var data: DatabaseOptions

    func validate() throws {
        for name in apis { _ = try ConcordAPI.named(name) }
        if let since, OperatorTime.ago(since, before: Date()) == nil {
            throw ValidationError("--since must be like 2026-11-23, 2026-11-23T08:00:00Z, 12h or 7d, not '\(since)'")
        }
        if let last, !(1...100_000 ~= last) { throw ValidationError("--last must be 1 to 100000") }
    }

    func run() async throws {
        let since = since.flatMap { OperatorTime.ago($0, before: Date()) } ?? .distantPast
        try await data.perform(
            PrintAudit(
                of: apis, since: Int64(since.timeIntervalSince1970 * 1000), last: last, format: listing.format))
    }
}
