import ArgumentParser
import Backend
import Foundation

/// The commands `concord reports …`.
struct Reports: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports", abstract: "Read what people report, and act on it.",
        discussion: """
            concord reports list
            concord reports show messenger 3
            concord reports act messenger 3 --remove --suspend --until 7d --reason "spam in groups"

            Messenger, Deuce Diary and Dunbar have reports. Each keeps a copy of what was reported, with its files, and is \
            open until an operator acts on it or dismisses it. An act is in 'concord audit' with its reason. The server \
            may be running.
            """,
        subcommands: [List.self, Show.self, Act.self, Dismiss.self, Note.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the reports of all APIs, the oldest first.",
            discussion: """
                concord reports list
                concord reports list --api dunbar --state all --json

                A line has the API, the report's number, its state, the time, what was reported, who wrote it, and the \
                reason.
                """)

        @Option(
            name: .customLong("api"),
            help: ArgumentHelp("List only this API; may be given several times. By default all.", valueName: "api"))
        var apis: [String] = []

        @Option(help: ArgumentHelp("open, acted, dismissed or all.", valueName: "state"))
        var state = ListedState.open

        @Option(help: ArgumentHelp("The most reports that are printed.", valueName: "number"))
        var limit = 100

        @OptionGroup var listing: ListOptions
        @OptionGroup var data: DatabaseOptions

        func validate() throws {
            for name in apis { _ = try ConcordAPI.named(name) }
            if !(1...1000 ~= limit) { throw ValidationError("--limit must be 1 to 1000") }
        }

        func run() async throws {
            try await data.perform(ListReports(of: apis, state.state, limit: limit, format: listing.format))
        }
    }

    /// The state of the reports that are listed.
    enum ListedState: String, ExpressibleByArgument, CaseIterable {
        case open, acted, dismissed, all

        var state: ReportState? { ReportState(rawValue: rawValue) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a report, or save a file that it keeps.",
            discussion: """
                concord reports show messenger 3
                concord reports show messenger 3 --file picture.jpg

                Shown are what was reported, as it was then and as it is now, who wrote it, who reported it and why, the \
                files that the report keeps, and the notes of operators.
                """)

        @OptionGroup var report: NamedReport

        @Option(
            help: ArgumentHelp(
                "Save the report's file under this path instead of showing the report.", valueName: "path"))
        var file: String?

        @Option(help: ArgumentHelp("The number of the file, for a report with several.", valueName: "number"))
        var number = 1

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            guard let file else {
                return try await place.perform(
                    ShowReport(report.number, format: listing.format), on: try report.named())
            }
            let console = try FileConsole(path: file)
            do {
                try await place.perform(
                    SaveReportedFile(number, of: report.number), on: try report.named(), console: console)
            } catch {
                console.discard()
                throw error
            }
        }
    }

    struct Act: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "act",
            abstract: "Remove what was reported, suspend or warn who wrote it, and close the report.",
            discussion: """
                concord reports act messenger 3 --remove --warn --reason "insults"
                concord reports act dunbar 12 --suspend --until 30d --reason "fake account"

                All of it is done, or nothing. What is removed closes the other open reports of it, too. Who is warned gets \
                an e-mail, where the API has an address that is verified; so does who reported. Two operators cannot act on \
                the same report: the second is told who was first.
                """)

        @OptionGroup var report: NamedReport

        @Flag(help: "Remove what was reported, as if its author had deleted it.")
        var remove = false

        @Flag(help: "Suspend who wrote it, or was reported.")
        var suspend = false

        @Option(
            help: ArgumentHelp(
                "The end of the suspension: a time, such as 2026-12-01 or 2026-12-01T08:00:00Z, or some time ahead: 90m, "
                    + "12h or 7d. By default there is none.",
                valueName: "time"))
        var until: String?

        @Flag(help: "Warn who wrote it, or was reported, with the reason.")
        var warn = false

        @OptionGroup var why: Reason
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        private var acts: [ReportAct] {
            (remove ? [.remove] : []) + (suspend ? [.suspend] : []) + (warn ? [.warn] : [])
        }

        func validate() throws {
            if acts.isEmpty {
                throw ValidationError(
                    "Give --remove, --suspend or --warn, or several of them; 'concord reports dismiss' closes a report "
                        + "without an act")
            }
            guard let until else { return }
            if !suspend { throw ValidationError("--until is the end of a suspension: give --suspend, too") }
            if OperatorTime.ahead(until, of: Date()) == nil {
                throw ValidationError(
                    "--until must be like 2026-12-01, 2026-12-01T08:00:00Z, 12h or 7d, not '\(until)'")
            }
        }

        func run() async throws {
            let command = ActOnReport(
                on: report.number, acts, until: until.flatMap { OperatorTime.ahead($0, of: Date()) },
                because: why.reason, format: listing.format)
            try await place.perform(command, on: try report.named())
        }
    }

    struct Dismiss: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dismiss", abstract: "Close a report because nothing needs to be done.",
            discussion: """
                concord reports dismiss messenger 3 --reason "a quarrel, no insult"

                No e-mail is sent. The report and its copy stay.
                """)

        @OptionGroup var report: NamedReport

        @Option(help: ArgumentHelp("Why, for other operators and the audit.", valueName: "text"))
        var reason = ""

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                DismissReport(report.number, because: reason, format: listing.format), on: try report.named())
        }
    }

    struct Note: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "note", abstract: "Add a note for other operators to a report.",
            discussion: "concord reports note messenger 3 \"asked bob for his side\"")

        @OptionGroup var report: NamedReport

        @Argument(help: "The note. Do not write more of a person into it than is needed.")
        var text: String

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if let mistake = OperatorTexts.mistake(inNote: text) { throw ValidationError("The note \(mistake)") }
        }

        func run() async throws {
            try await place.perform(NoteReport(text, on: report.number), on: try report.named())
        }
    }
}

/// The report that a command is for.
struct NamedReport: ParsableArguments {
    @Argument(help: "The API: messenger, deuce-diary or dunbar.")
    var api: String

    @Argument(help: "The report's number, as 'concord reports list' prints it.")
    var number: Int64

    func validate() throws { _ = try ConcordAPI.named(api) }

    func named() throws -> ConcordAPI { try ConcordAPI.named(api) }
}
