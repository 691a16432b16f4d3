import ContractClient
import Database
import Foundation
import MonicaClient
import MonicaService
import Testbed
import Testing

/// Two nodes send the e-mails of one day's reminders, and are killed while they do. The test takes a minute or two, most of which
/// the nodes wait; `make torture` sends 10,000.
@Suite(
    .serialized, .timeLimit(.minutes(Torture.minutes)), StockMailServer.isThere,
    .enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
struct ReminderDrillTests {
    private static let count = Drill.isLong ? 10_000 : 400
    /// The e-mails that a node hands over at the same time. A killed node may have handed them over without having recorded it.
    private static let atOnce = 32

    /// Two nodes of one server.
    private struct Nodes {
        let data: [String]
        let ports: [Int]
        let environment: [String: String]
        let arguments: [String]
        var processes: [ConcordProcess] = []

        init(in folder: String, database: String, mail: StockMailServer) async throws {
            data = ["\(folder)/a", "\(folder)/b"]
            ports = [try await reservePort(), try await reservePort()]
            environment = [
                "CONCORD_DATABASE": database, "CONCORD_LOG_LEVEL": "error",
                "CONCORD_MONICA_REQUEST_KEY": Data(repeating: 42, count: 32).base64EncodedString(),
            ]
            arguments = ["--smtp", mail.url, "--mail-from", "us@example.com"]
            for place in data { try DrillNode.shareFiles(of: place, at: folder + "/files") }
            for node in 0..<2 { processes.append(try await started(node)) }
        }

        private func started(_ node: Int) async throws -> ConcordProcess {
            let process = try ConcordProcess(
                ["serve", "monica", "--data", data[node], "--port", "monica=\(ports[node])"] + arguments,
                environment: environment)
            try await process.waitUntilReady()
            return process
        }

        mutating func restart(_ node: Int) async throws {
            processes[node].signal(SIGKILL)
            _ = await processes[node].status()
            processes[node] = try await started(node)
        }

        func command(_ arguments: [String]) async throws -> String {
            let process = try ConcordProcess(["monica"] + arguments + ["--data", data[0]], environment: environment)
            let output = await process.wholeOutput()
            let status = await process.status()
            guard status == 0 else {
                throw ConcordProcess.Ended(status: status, errors: await process.standardError())
            }
            return output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    @Test func eachReminderIsSentOnce() async throws {
        try await StockMailServer.serving { mail in
            try await withTestDatabase(on: .postgreSQL) { place in
                let url = try #require(place.url)
                var nodes = try await Nodes(in: place.folder, database: url, mail: mail)
                let token = try await nodes.command(["token", "create", "--account", "anna"])
                // A zone in which it is about noon, so that the day of the e-mails does not end during the test.
                let hour = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date()).hour ?? 0
                let zone = "Etc/GMT\(hour < 12 ? "-" : "+")\(hour < 12 ? 12 - hour : hour - 12)"
                _ = try await nodes.command([
                    "account", "set", "--account", "anna", "--email", "anna@example.com", "--zone", zone,
                    "--reminders-at", "6",
                ])
                let base = try #require(URL(string: "http://127.0.0.1:\(nodes.ports[0])/api"))
                let client = MonicaAPIClient(
                    configuration: APIConfiguration(baseURL: base, token: token, retryCount: 0), transport: .patient)
                let john = try await client.create(Monica.ContactDraft(firstName: "John")).id
                try await Self.add(Self.count, of: john, hoursAhead: 12 - hour, in: url)

                // Each node is killed once while e-mails are on their way.
                for (node, share) in [(0, 4), (1, 2)] {
                    await mail.wait(for: Self.count / share)
                    try await nodes.restart(node)
                }
                await mail.waitForSubjects(Self.count)
                try await Self.waitForEmptyQueue(in: url)
                let letters = mail.letters
                let byTitle = Dictionary(grouping: letters, by: \.subject)
                #expect(Set(byTitle.keys) == Set((1...Self.count).map { "John: reminder \($0)" }))
                let repeated = byTitle.values.filter { $0.count > 1 }
                for copies in repeated { #expect(Set(copies.map(\.messageID)).count == 1) }
                #expect(Set(letters.map(\.messageID)).count == Self.count)
                #expect(letters.count - Self.count <= 2 * Self.atOnce)
                print(
                    "drill: \(Self.count) reminders: \(letters.count) e-mails, \(repeated.count) again after a kill, "
                        + "each with its first Message-ID")
                for process in nodes.processes {
                    process.signal(SIGTERM)
                    #expect(await process.status() == 0)
                }
            }
        }
    }

    /// Adds reminders of today whose hour has just come. Through the API they would take hours, by the limits of a token.
    private static func add(_ count: Int, of contact: Int, hoursAhead: Int, in url: String) async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let day = (now + Int64(hoursAhead) * 3_600_000) / 86_400_000
        let database = try Database.postgreSQL(url: url, schema: MonicaService.schema, connections: 1)
        try await database.write { db in
            try db.run(
                """
                INSERT INTO reminders (uuid, account_id, contact_id, title, initial_day, frequency_type, frequency_number,
                    due_day, due_at, created_at, updated_at)
                SELECT gen_random_uuid()::text, c.account_id, c.id, 'reminder ' || n, \(day), 'year', 1, \(day), \(now),
                    \(now), \(now)
                FROM contacts c, generate_series(1, \(count)) n WHERE c.id = \(contact)
                """)
        }
        try await database.close()
    }

    private static func waitForEmptyQueue(in url: String) async throws {
        let database = try Database.postgreSQL(url: url, schema: MonicaService.schema, connections: 1)
        while try await database.read({ try $0.exists("SELECT 1 FROM outbox") }) {
            try await Task.sleep(for: .milliseconds(200))
        }
        try await database.close()
    }
}
