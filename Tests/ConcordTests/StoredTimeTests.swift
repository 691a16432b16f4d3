import Backend
import Database
import DeuceDiaryTestHost
import DunbarTestHost
import Foundation
import GTSDTestHost
import MessengerService
import MessengerTestHost
import MonicaTestHost
import Testbed
import Testing

/// Which columns hold times, and what a start says of times that lie ahead of its clock.
@Suite(.timeLimit(.minutes(30))) struct StoredTimeTests {
    /// The columns with times that are shown, or by which rows are ordered, and that no operation compares with the clock.
    private static let shown: Set<String> = [
        "applied_at", "awarded_at", "called_at", "completed_at", "created_at", "deleted_at", "edited_at",
        "favorited_at",
        "happened_at",
        "joined_at", "last_entry_at", "logged_at", "occurred_at", "read_at", "registered_at", "revised_at",
        "suspended_at", "taken_at", "updated_at", "written_at",
    ]

    /// The other ones: the audit, which is never changed; the end of a muting, which the user has chosen, and of a
    /// suspension, which the operator has; the use of a refresh
    /// token, which is only compared within its grace of seconds; the sign of life of an import, which counts in both directions;
    /// the next date of a reminder, which may be years away.
    private static let others: Set<String> = [
        "audit.time", "members.muted_until", "refresh_tokens.used_at", "imports.alive_at", "users.suspended_until",
        "accounts.suspended_until", "filed_reports.closed_at", "reports.ends_at", "reminders.due_at",
    ]

    /// Checks that each column with times is on one of the lists.
    private func check(_ node: TestNode<some HostedAPI>) async throws {
        let columns: [(table: String, column: String)] = try await node.database.read { db in
            try db.all(
                """
                SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
                WHERE t.type = 'table' ORDER BY t.name, c.cid
                """
            ) { (try $0.get(0), try $0.get(1)) }
        }
        #expect(columns.count > 20)
        let times = type(of: node.service).storedTimes.map { "\($0.table).\($0.column)" }
        let names = columns.map { "\($0.table).\($0.column)" }
        #expect(Set(times).count == times.count)
        #expect(Set(times).subtracting(names) == [])
        let unknown = columns.filter { table, column in
            let isTime = column.hasSuffix("_at") || column.hasSuffix("until") || column == "time"
            let name = "\(table).\(column)"
            return isTime && !times.contains(name) && !Self.others.contains(name) && !Self.shown.contains(column)
        }
        #expect(unknown.map { "\($0.table).\($0.column)" } == [])
    }

    /// A column that is new joins one of the lists: its times are corrected, or never compared with the clock.
    @Test func everyTimeIsKnown() async throws {
        let stack = Stack(.sqlite, .inProcess)
        try await withMessenger(on: stack) { try await check($0) }
        try await withDeuceDiary(on: stack) { try await check($0) }
        try await withMonica(on: stack) { try await check($0) }
        try await withGTSD(on: stack) { try await check($0) }
        try await withDunbar(on: stack) { try await check($0.node) }
    }

    /// The server says at its start that its clock is behind, or was ahead.
    @Test func aStartSaysThatTimesLieAhead() async throws {
        let server = StartedServer()
        try await withTemporaryFolder { folder async throws in
            _ = try await server.fill(folder, files: 0)
            let database = try Database.sqlite(
                path: folder + "/messenger.sqlite", schema: MessengerService.schema)
            let ahead = TimeSource.system.milliseconds() + 366 * 86_400_000
            try await database.write { db in try db.run("UPDATE sessions SET expires_at = \(ahead)") }
            try await database.close()
            let process = try await ConcordProcess.serving(data: folder, port: try await reservePort())
            try await process.waitForLog { $0.contains("times in the database lie ahead of the clock") }
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            let log = await process.standardError()
            #expect(log.contains("columns=sessions.expires_at"), "\(log)")
        }
    }
}
