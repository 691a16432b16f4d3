import ArgumentParser
import Database
import DunbarAPI
import DunbarService
import GTSDAPI
import GTSDService

struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what only an operator may.",
        subcommands: [MessengerAdmin.self, DunbarAdmin.self, GTSDAdmin.self])

    /// Makes changes, one after the other, and says so of each.
    ///
    /// - Parameters:
    ///   - changes: Whose, and what it says when it is done.
    ///   - change: False when there is nobody of that name.
    /// - Throws: at the end, when there was nobody of some name.
    static func make<Change>(
        _ changes: [(name: String, change: Change)], saying words: (Change) -> String,
        _ make: (Change, String) async throws -> Bool
    ) async throws {
        var unknown: [String] = []
        for (name, change) in changes {
            if try await make(change, name) { print("\(name) \(words(change))") } else { unknown.append(name) }
        }
        guard unknown.isEmpty else { throw ValidationError("There is no user \(unknown.joined(separator: ", "))") }
    }
}

struct DunbarAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dunbar",
        abstract: "Make a user of Dunbar an admin, or no longer one; read what users report.",
        discussion: """
            concord admin dunbar --promote alice
            concord admin dunbar --reports

            Admins see every post, and may change every profile and delete every post; searches do not show them. It \
            holds from the next request on.

            Reports are of posts; nothing is removed by them. Whoever deletes a post, as an admin, deletes its reports.

            On SQLite the server must be stopped meanwhile: its file has one writer. On PostgreSQL it may be running.
            """)

    @Option(help: ArgumentHelp("Make this user an admin, by username in any case. Repeatable.", valueName: "name"))
    var promote: [String] = []

    @Option(help: ArgumentHelp("Make this user no longer an admin. Repeatable.", valueName: "name"))
    var demote: [String] = []

    @Flag(help: "Print what users have reported: the newest 1,000 reports, newest first.")
    var reports = false

    @OptionGroup var place: AdminPlace

    func validate() throws {
        guard !promote.isEmpty || !demote.isEmpty || reports else {
            throw ValidationError("What? --promote NAME, --demote NAME, --reports")
        }
    }

    func run() async throws {
        let changes = promote.map { ($0, true) } + demote.map { ($0, false) }
        try await place.open(Dunbar.name, "Dunbar", DunbarService.schema, besideServer: false) { database in
            try await Admin.make(changes, saying: { $0 ? "is an admin" : "is no longer an admin" }) { isAdmin, name in
                try await DunbarService.setAdmin(isAdmin, name, in: database)
            }
            if reports { try await printReports(of: database) }
        }
    }

    private func printReports(of database: Database) async throws {
        let reports = try await DunbarService.reports(limit: 1000, in: database)
        if reports.isEmpty { print("No reports") }
        for report in reports {
            // Strangers' texts in quotes, with what could move a terminal's cursor escaped.
            let files = report.mediaCount == 0 ? "" : ", \(report.mediaCount) files"
            let details = report.details.map { ": \($0.debugDescription)" } ?? ""
            print("\(report.createdAt) \(report.reason), report \(report.id)")
            print("    post \(report.post) of \(report.author): \(report.content.debugDescription)\(files)")
            print("    reported by \(report.reporter)\(details)")
        }
    }
}

struct GTSDAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gtsd",
        abstract: "Switch an account of GTSD off, or on again.",
        discussion: """
            concord admin gtsd --deactivate anna@example.com

            While an account is off, nobody signs in to it, and whoever is signed in is refused within a second with \
            403 "Account is deactivated". All that belongs to it stays. The server may be running.
            """)

    @Option(help: ArgumentHelp("Switch this account off, by its address in any case. Repeatable.", valueName: "email"))
    var deactivate: [String] = []

    @Option(help: ArgumentHelp("Switch this account on again. Repeatable.", valueName: "email"))
    var activate: [String] = []

    @OptionGroup var place: AdminPlace

    func validate() throws {
        guard !deactivate.isEmpty || !activate.isEmpty else {
            throw ValidationError("Whom? --deactivate EMAIL, --activate EMAIL")
        }
    }

    func run() async throws {
        let changes = deactivate.map { ($0, false) } + activate.map { ($0, true) }
        try await place.open(GTSD.name, "GTSD", GTSDService.schema, besideServer: true) { database in
            try await Admin.make(changes, saying: { $0 ? "is switched on" : "is switched off" }) { isActive, email in
                try await GTSDService.setActive(isActive, email: email, in: database)
            }
        }
    }
}
