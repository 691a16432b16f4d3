import ArgumentParser
import DunbarService
import GTSDService

struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what only an operator may.",
        subcommands: [MessengerAdmin.self, DunbarAdmin.self, GTSDAdmin.self])
}

extension OperationContext {
    /// Makes a change to each user of a list, one after the other, and prints a line for each.
    ///
    /// - Parameters:
    ///   - words: What the line says when a change is made.
    ///   - change: Returns false when there is no user of that name.
    /// - Throws: ``OperationRefused`` at the end, naming the users that do not exist.
    func change<Change: Sendable>(
        _ changes: [(name: String, change: Change)], saying words: (Change) -> String,
        _ change: (Change, String) async throws -> Bool
    ) async throws {
        var unknown: [String] = []
        for (name, value) in changes {
            if try await change(value, name) {
                try await print("\(name) \(words(value))")
            } else {
                unknown.append(name)
            }
        }
        guard unknown.isEmpty else { throw OperationRefused("There is no user \(unknown.joined(separator: ", "))") }
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

            Reports are of posts; nothing is removed by them. Each has a copy of the text, and stays for 90 days after its \
            post. The server may be running.
            """)

    @Option(help: ArgumentHelp("Make this user an admin, by username in any case. Repeatable.", valueName: "name"))
    var promote: [String] = []

    @Option(help: ArgumentHelp("Make this user no longer an admin. Repeatable.", valueName: "name"))
    var demote: [String] = []

    @Flag(help: "Print what users have reported: the newest 1,000 reports, newest first.")
    var reports = false

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard !promote.isEmpty || !demote.isEmpty || reports else {
            throw ValidationError("What? --promote NAME, --demote NAME, --reports")
        }
    }

    func run() async throws {
        try await place.perform(Work(promote: promote, demote: demote, reports: reports))
    }

    struct Work: Operation {
        static let name = "admin dunbar"
        static let api = OperatedAPI.dunbar

        var promote: [String]
        var demote: [String]
        var reports: Bool

        func run(in context: OperationContext) async throws {
            let changes = promote.map { ($0, true) } + demote.map { ($0, false) }
            try await context.change(
                changes, saying: { $0 ? "is an admin" : "is no longer an admin" },
                { try await DunbarService.setAdmin($0, $1, in: context.database) })
            if reports { try await printReports(in: context) }
        }

        private func printReports(in context: OperationContext) async throws {
            let reports = try await DunbarService.reports(limit: 1000, in: context.database)
            if reports.isEmpty { try await context.print("No reports") }
            for report in reports {
                // Users' texts in quotes, with what could move a terminal's cursor escaped.
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

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard !deactivate.isEmpty || !activate.isEmpty else {
            throw ValidationError("Whom? --deactivate EMAIL, --activate EMAIL")
        }
    }

    func run() async throws {
        try await place.perform(Work(deactivate: deactivate, activate: activate))
    }

    struct Work: Operation {
        static let name = "admin gtsd"
        static let api = OperatedAPI.gtsd

        var deactivate: [String]
        var activate: [String]

        func run(in context: OperationContext) async throws {
            let changes = deactivate.map { ($0, false) } + activate.map { ($0, true) }
            try await context.change(
                changes, saying: { $0 ? "is switched on" : "is switched off" },
                { try await GTSDService.setActive($0, email: $1, in: context.database) })
        }
    }
}
