import Backend
import ContractClient
import Database
import DunbarClient
import Foundation
import GTSDClient
import Testbed
import Testing

@testable import concord

/// `concord audit` says what operators and admins have done.
@Suite(.timeLimit(.minutes(30))) struct AuditTests {
    private func concord(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: environment)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    private struct Entry: Decodable, Equatable {
        let api: String
        let actor: String
        let action: String
        let subject: String

        init(_ api: String, _ actor: String, _ action: String, _ subject: String) {
            self.api = api
            self.actor = actor
            self.action = action
            self.subject = subject
        }
    }

    /// Runs a command that must succeed.
    @discardableResult
    private func succeed(_ arguments: [String], by operatorName: String = "anna") async throws -> String {
        let result = try await concord(arguments, ["SUDO_USER": operatorName])
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result.output
    }

    private func entries(_ more: [String]) async throws -> [Entry] {
        try await succeed(["audit", "--json"] + more).split(separator: "\n").map {
            try JSONDecoder().decode(Entry.self, from: Data($0.utf8))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func whatOperatorsAndAdminsDoIsListed(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let data = ["--data", place.folder + "/data"] + (place.url.map { ["--database", $0] } ?? [])
            let ports = [try await reservePort(), try await reservePort()]
            let server = try ConcordProcess(
                ["serve", "dunbar", "gtsd", "--port", "dunbar=\(ports[0])", "--port", "gtsd=\(ports[1])"] + data)
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(ports[0])/api"))
            var clients: [DunbarClient] = []
            for name in ["alice", "bob"] {
                let client = DunbarClient(baseURL: url, store: MemoryCookieStore(), transport: .patient, retry: .never)
                try await client.register(
                    .init(username: name, email: "\(name)@example.com", password: "secret123", displayName: name))
                clients.append(client)
            }
            let (alice, bob) = (clients[0], clients[1])
            let ids = (
                try #require(try await alice.currentUser()).id, try #require(try await bob.currentUser()).id
            )
            let post = try await bob.post("x")
            try await succeed(["dunbar", "promote", "alice"] + data)
            let missing = try await concord(["dunbar", "promote", "carol"] + data)
            #expect(missing.status == 1)
            try await alice.send(Dunbar.DeletePost(id: post.id))
            try await succeed(["dunbar", "demote", "alice"] + data, by: "berta")
            try await succeed(["backup", place.folder + "/backups"] + data)
            try await succeed(["monica", "token", "create", "--account", "me", "--name", "phone"] + data)
            try await succeed(["monica", "export", "--account", "me"] + data)
            try await succeed(["dunbar", "sign-out-everybody"] + data)
            let whileServing = try await entries(data)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            let after = try await entries(data)
            #expect(whileServing == after)
            let backup = try #require(after.first { $0.action == "backup" }?.subject)
            #expect(backup.hasSuffix(" to " + place.folder + "/backups"))
            #expect(
                after.filter { $0.action != "backup" } == [
                    Entry("dunbar", "operator anna", "dunbar promote", "alice"),
                    Entry("dunbar", "admin \(ids.0)", "post delete", "post \(post.id) of user \(ids.1)"),
                    Entry("dunbar", "operator berta", "dunbar demote", "alice"),
                    Entry("monica", "operator anna", "monica token create", "phone of me"),
                    Entry("monica", "operator anna", "monica export", "me"),
                    Entry("dunbar", "operator anna", "dunbar sign-out-everybody", ""),
                ])
            #expect(try await entries(["gtsd"] + data).map(\.action) == ["backup"])
            #expect(try await entries(["dunbar", "--since", "2100-01-01"] + data).isEmpty)
            let text = try await succeed(["audit", "dunbar", "--since", "1h"] + data)
            #expect(text.contains("\tdunbar\t\"operator anna\"\tdunbar promote\t\"alice\"\n"), "\(text)")

            // What is restored says so, and has what was done before the backup.
            try await restore(place, engine)
        }
    }

    private func restore(_ place: TestDatabase, _ engine: Stack.Engine) async throws {
        // PostgreSQL has one database here, which is not empty.
        guard engine == .sqlite else { return }
        let data = ["--data", place.folder + "/restored"]
        try await succeed(["restore", place.folder + "/backups"] + data)
        let actions = try await entries(["dunbar"] + data).map(\.action)
        #expect(
            actions == ["dunbar promote", "post delete", "dunbar demote", "restore"])
    }

    @Test func aMissingDatabaseIsNamed() async throws {
        try await withTemporaryFolder { folder in
            let none = try await concord(["audit", "--data", folder])
            #expect(none.status == 0 && none.output == "No entries\n", "\(none.errors)")
            let one = try await concord(["audit", "dunbar", "--data", folder])
            #expect(one.status == 1 && one.errors.contains("has no Dunbar database"), "\(one.errors)")
        }
    }

    @Test func timesAreDaysMomentsAndDurations() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(OperatorTime.ago("7d", before: now) == now - 7 * 86_400)
        #expect(OperatorTime.ago("90m", before: now) == now - 5400)
        #expect(OperatorTime.ago("2027-01-15", before: now)?.timeIntervalSince1970 == 1_799_971_200)
        #expect(OperatorTime.ago("2027-01-15T08:00:00Z", before: now) == now)
        #expect(OperatorTime.ahead("12h", of: now) == now + 43_200)
        for text in ["", "d", "-1d", "yesterday", "2027-15-01"] { #expect(OperatorTime.ago(text, before: now) == nil) }
    }
}
