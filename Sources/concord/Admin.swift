import ArgumentParser
import Database
import DunbarService
import Foundation

struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what only an operator may.",
        subcommands: [DunbarAdmin.self])
}

struct DunbarAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dunbar",
        abstract: "Make a user of Dunbar an admin, or no longer one.",
        discussion: """
            concord admin dunbar --promote alice

            Admins see every post, and may change every profile and delete every post; searches do not show them. It \
            holds from the next request on.

            On SQLite the server must be stopped meanwhile: its file has one writer. On PostgreSQL it may be running.
            """)

    @Option(help: ArgumentHelp("Make this user an admin, by username in any case. Repeatable.", valueName: "name"))
    var promote: [String] = []

    @Option(help: ArgumentHelp("Make this user no longer an admin. Repeatable.", valueName: "name"))
    var demote: [String] = []

    @Option(help: "The server's data folder. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Where the server's database is. [CONCORD_DATABASE] (default: sqlite)", valueName: "sqlite|postgres://…"))
    var database: String?

    func validate() throws {
        guard !promote.isEmpty || !demote.isEmpty else { throw ValidationError("Whom? --promote NAME, --demote NAME") }
        if let database, Serve.place(database) == nil {
            throw ValidationError("--database is 'sqlite' or 'postgres://…', not '\(database)'")
        }
    }

    func run() async throws {
        let environment = Environment.process
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let place = try environment.value(database, "CONCORD_DATABASE", Serve.place, default: "sqlite")
        guard place == "sqlite" else {
            return try await change(in: .postgreSQL(url: place, schema: DunbarService.schema, connections: 1))
        }
        let file = "\(folder)/dunbar.sqlite"
        guard FileManager.default.fileExists(atPath: file) else {
            throw ValidationError("\(folder) has no Dunbar database: is it the server's data folder (--data)?")
        }
        let owned = try DataFolder(folder)
        try await change(in: .sqlite(path: file, schema: DunbarService.schema))
        withExtendedLifetime(owned) {}
    }

    private func change(in database: Database) async throws {
        let changes = promote.map { ($0, true) } + demote.map { ($0, false) }
        var unknown: [String] = []
        for (name, isAdmin) in changes {
            guard try await DunbarService.setAdmin(isAdmin, name, in: database) else {
                unknown.append(name)
                continue
            }
            print("\(name) is \(isAdmin ? "an admin" : "no longer an admin")")
        }
        try await database.close()
        guard unknown.isEmpty else { throw ValidationError("There is no user \(unknown.joined(separator: ", "))") }
    }
}
