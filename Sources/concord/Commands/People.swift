import ArgumentParser
import Backend
import Foundation

/// The commands `concord people …`.
struct People: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people", abstract: "Find, help, suspend and delete the people of all APIs.",
        discussion: """
            concord people find anna
            concord people suspend messenger 17 --until 7d --reason "spam in groups"

            An act is in 'concord audit' with its reason. The server may be running.
            """,
        subcommands: [
            Find.self, Show.self, SignOut.self, ResetCode.self, Suspend.self, Restore.self, Export.self,
            RemoveContent.self,
            Delete.self,
        ])

    struct Find: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "find", abstract: "Find people by a name, an e-mail address or an id.",
            discussion: """
                concord people find anna@example.com
                concord people find 17 --api messenger --json

                Found are those whose username, name or address begins with the text, in upper or lower case, and those \
                with that id; in Messenger and Dunbar any part of a name does. A line has the API, the id, the name, the \
                address, the time of the sign-up, and whether the person is suspended.
                """)

        @Argument(help: "The beginning of a name or an address, or an id.")
        var text: String

        @Option(
            name: .customLong("api"),
            help: ArgumentHelp(
                "Look only in this API; may be given several times. By default in all.", valueName: "api"))
        var apis: [String] = []

        @Option(help: ArgumentHelp("The most people of each API that are printed.", valueName: "number"))
        var limit = 50

        @OptionGroup var listing: ListOptions
        @OptionGroup var data: DatabaseOptions

        func validate() throws {
            for name in apis { _ = try ConcordAPI.named(name) }
            if text.allSatisfy(\.isWhitespace) { throw ValidationError("The text to look for is empty") }
            if !(1...1000 ~= limit) { throw ValidationError("--limit must be 1 to 1000") }
        }

        func run() async throws {
            try await data.perform(
                FindPeople(text, in: apis, limit: limit, format: listing.format))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show what is known of a person.",
            discussion: """
                concord people show messenger 17

                Shown are the address, the times of the sign-up and of the last use, the sessions, failed sign-ins, the \
                size of files, the numbers of reports, a suspension, and the last acts of 'concord audit' that name the \
                person. What the person wrote is not shown.
                """)

        @Argument(help: People.apiHelp)
        var api: String

        @Argument(help: "The person's id, as 'concord people find' prints it.")
        var id: String

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func validate() throws { _ = try ConcordAPI.named(api) }

        func run() async throws {
            try await place.perform(
                ShowPerson(NamedPerson(id: id), format: listing.format), on: try ConcordAPI.named(api))
        }
    }

    struct SignOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out", abstract: "End all sessions of people.",
            discussion: """
                concord people sign-out messenger 17 --reason "lost phone"

                Within a second the sessions and live sockets have ended on every node, and the people must sign in again. \
                In Monica the tokens are revoked. In Deuce Diary the tokens that were issued until now are refused; \
                whether there will be others is decided by the issuer.
                """)

        @OptionGroup var people: NamedPeople
        @OptionGroup var why: Reason
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                SignOutPeople(try people.all(), because: why.reason, format: listing.format), on: try people.named())
        }
    }

    struct ResetCode: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-code", abstract: "Make a code by which a person sets a new password.",
            discussion: """
                concord people reset-code messenger 17
                concord people reset-code messenger 17 --send

                The code is good for 15 minutes, and once. It is entered in the app like that of an e-mail about a \
                forgotten password, and ends all sessions. Whoever has it has the account: make sure to whom you give it. \
                Messenger, GTSD and Dunbar have passwords.
                """)

        @Argument(help: People.apiHelp)
        var api: String

        @Argument(help: "The person's id, as 'concord people find' prints it.")
        var id: String

        @Flag(help: "Send the code to the person's e-mail address, and do not print it.")
        var send = false

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func validate() throws { _ = try ConcordAPI.named(api) }

        func run() async throws {
            try await place.perform(
                MakeResetCode(NamedPerson(id: id), isSent: send, format: listing.format), on: try ConcordAPI.named(api))
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "suspend", abstract: "Refuse people everything, for a time or until they are restored.",
            discussion: """
                concord people suspend messenger 17 --until 7d --reason "spam in groups"
                concord people suspend dunbar --from ids.txt --reason "fake accounts"

                Within a second every request of theirs is refused with 403 and the reason, their live sockets are closed, \
                and no one can sign in to the accounts or reset their passwords. What they wrote stays, and so do their \
                sessions, which go on afterwards. In GTSD it is what 'concord gtsd deactivate' does.
                """)

        @OptionGroup var people: NamedPeople

        @Option(
            help: ArgumentHelp(
                "The end: a time, such as 2026-12-01 or 2026-12-01T08:00:00Z, or some time ahead: 90m, 12h or 7d. By "
                    + "default there is none.",
                valueName: "time"))
        var until: String?

        @OptionGroup var why: Reason
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if let until, OperatorTime.ahead(until, of: Date()) == nil {
                throw ValidationError(
                    "--until must be like 2026-12-01, 2026-12-01T08:00:00Z, 12h or 7d, not '\(until)'")
            }
        }

        func run() async throws {
            let command = SuspendPeople(
                try people.all(), until: until.flatMap { OperatorTime.ahead($0, of: Date()) }, because: why.reason,
                format: listing.format)
            try await place.perform(command, on: try people.named())
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Lift the suspension of people.",
            discussion: "They can go on at once, within a second on every node, with the sessions that they had.")

        @OptionGroup var people: NamedPeople

        @Option(help: ArgumentHelp("Why, for the audit.", valueName: "text"))
        var reason = ""

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                RestorePeople(try people.all(), because: reason, format: listing.format), on: try people.named())
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write all that the server keeps of a person to standard output, as a ZIP file.",
            discussion: """
                concord people export messenger 17 --reason "asked by letter" > 17.zip

                It is the archive that people download in the app: JSON, and the files that they uploaded. Files that the \
                store has lost are named in its 'missing-files.json'. With files in a bucket, the server must be running.
                """)

        @Argument(help: People.apiHelp)
        var api: String

        @Argument(help: "The person's id, as 'concord people find' prints it.")
        var id: String

        @OptionGroup var why: Reason
        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            _ = try ConcordAPI.named(api)
            if isatty(STDOUT_FILENO) == 1 {
                throw ValidationError("A ZIP file is not for a terminal: write it to a file, with > at the end")
            }
        }

        func run() async throws {
            try await place.perform(
                ExportPerson(NamedPerson(id: id), because: why.reason), on: try ConcordAPI.named(api))
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete people with everything that belongs to them.",
            discussion: """
                concord people delete gtsd 17 --reason "asked by letter"

                It does what people do who delete their account in the app, and cannot be undone. The audit keeps the id \
                and the reason: do not write a name into it.
                """)

        @OptionGroup var people: NamedPeople
        @OptionGroup var why: Reason
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(
                DeletePeople(try people.all(), because: why.reason, format: listing.format), on: try people.named())
        }
    }

    struct RemoveContent: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-content", abstract: "Remove what people wrote where others see it.",
            discussion: """
                concord people remove-content messenger 17 --since 7d --reason "spam in groups"
                concord people remove-content dunbar --from ids.txt --reason "fake accounts"

                Removed are Messenger's messages and the uploads that nothing uses then, Dunbar's posts and comments, and \
                Deuce Diary's entries and reactions, as if the people had deleted them; the accounts and their profiles \
                stay. It takes some seconds for 10,000 things, and what other people do comes in between. Suspend the \
                people first, so that they write nothing meanwhile. It cannot be undone.
                """)

        @OptionGroup var people: NamedPeople

        @Option(
            help: ArgumentHelp(
                "Remove only what was written since: a time, such as 2026-12-01 or 2026-12-01T08:00:00Z, or some time "
                    + "ago: 90m, 12h or 7d. By default all of it.",
                valueName: "time"))
        var since: String?

        @OptionGroup var why: Reason
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if let since, OperatorTime.ago(since, before: Date()) == nil {
                throw ValidationError(
                    "--since must be like 2026-12-01, 2026-12-01T08:00:00Z, 12h or 7d, not '\(since)'")
            }
        }

        func run() async throws {
            let command = Backend.RemoveContent(
                of: try people.all(), since: since.flatMap { OperatorTime.ago($0, before: Date()) },
                because: why.reason, format: listing.format)
            try await place.perform(command, on: try people.named())
        }
    }

    fileprivate static let apiHelp = ArgumentHelp("The API: \(ConcordAPI.names.joined(separator: ", ")).")
}

/// The people of one API whom a command is for.
struct NamedPeople: ParsableArguments {
    @Argument(help: People.apiHelp)
    var api: String

    @Argument(help: "The ids, as 'concord people find' prints them.")
    var id: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with an id on each line. If one of them is wrong, the line is named and nothing is done. Empty lines, "
                + "and those that begin with #, are passed over.",
            valueName: "file"))
    var from: String?

    func validate() throws {
        _ = try ConcordAPI.named(api)
        if id.isEmpty == (from == nil) { throw ValidationError("Give either ids or --from with a file of ids") }
    }

    func named() throws -> ConcordAPI { try ConcordAPI.named(api) }

    func all() throws -> [NamedPerson] {
        guard let from else { return id.map { NamedPerson(id: $0) } }
        guard let text = try? String(contentsOfFile: from, encoding: .utf8) else {
            throw ValidationError("\(from) cannot be read")
        }
        let people = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().compactMap {
            number, line in
            let id = line.trimmingCharacters(in: .whitespacesAndNewlines)
            return id.isEmpty || id.hasPrefix("#") ? nil : NamedPerson(id: id, line: number + 1)
        }
        if people.isEmpty { throw ValidationError("\(from) has no ids") }
        return people
    }
}

/// Why an operator does something to a person.
struct Reason: ParsableArguments {
    @Option(help: ArgumentHelp("Why. It is in the audit; who is suspended reads it.", valueName: "text"))
    var reason: String

    func validate() throws {
        if let mistake = OperatorTexts.mistake(inReason: reason) { throw ValidationError("--reason \(mistake)") }
    }
}
