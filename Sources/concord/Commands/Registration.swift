import ArgumentParser
import Backend
import Foundation

/// The commands `concord registration …`.
struct RegistrationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registration", abstract: "Open and close the registration of new people, and invite some.",
        discussion: """
            concord registration invite --api messenger
            concord registration code --api messenger --uses 20 --expires 14d

            It takes effect on every node at once, and lasts until it is changed again. In Messenger, GTSD and Dunbar people \
            register by themselves. In Deuce Diary the first token of a user makes the account: closed, it is refused. The \
            accounts of Monica are made by the operator.
            """,
        subcommands: [
            Open.self, Invite.self, Closed.self, Show.self, Code.self, List.self, Revoke.self,
        ])

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "open", abstract: "Let everybody register.")

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(SetRegistration(.open, of: chosen.apis)) }
    }

    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "invite", abstract: "Let those register who have a code.",
            discussion: """
                A code is made by 'concord registration code', and typed in the app. Without one, or with one that is wrong, \
                used up or expired, a registration is refused with 403.
                """)

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(SetRegistration(.invite, of: chosen.apis)) }
    }

    struct Closed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "closed", abstract: "Let no one register.",
            discussion: "Those who have an account sign in as before.")

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(SetRegistration(.closed, of: chosen.apis)) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show who may register: 'open', 'invite' or 'closed'.")

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(ShowRegistration(of: chosen.apis, format: listing.format))
        }
    }

    struct Code: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "code", abstract: "Make a code with which people register, and print it.",
            discussion: """
                concord registration code --api dunbar --uses 5 --expires 7d

                The code is printed once: the server keeps a hash of it. Each registration uses it once; one that fails does \
                not. It may be typed in small letters and without hyphens. An API has at most 1,000 codes.
                """)

        @OptionGroup var chosen: ChosenAPI

        @Option(help: ArgumentHelp("The number of registrations with it: 1 to 100000.", valueName: "number"))
        var uses = 1

        @Option(
            help: ArgumentHelp(
                "The end, within 366 days: a time, such as 2026-12-01 or 2026-12-01T08:00:00Z, or some time ahead: 90m, 12h "
                    + "or 7d. By default there is none.",
                valueName: "time"))
        var expires: String?

        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if !(1...100_000 ~= uses) { throw ValidationError("--uses must be 1 to 100000") }
            if let expires, OperatorTime.ahead(expires, of: Date()) == nil {
                throw ValidationError(
                    "--expires must be like 2026-12-01, 2026-12-01T08:00:00Z, 12h or 7d, not '\(expires)'")
            }
        }

        func run() async throws {
            try await place.perform(
                MakeInvitationCode(
                    for: chosen.api, uses: uses, expires: expires.flatMap { OperatorTime.ahead($0, of: Date()) },
                    format: listing.format))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the codes: id, uses, times. What is typed is not kept.")

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(ListInvitationCodes(of: chosen.apis, format: listing.format))
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "End codes.",
            discussion: "Those who have registered with them keep their accounts.")

        @OptionGroup var chosen: ChosenAPI

        @Argument(help: "The ids, as 'concord registration list' prints them.")
        var id: [Int64]

        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if id.count > 1000 { throw ValidationError("Give at most 1,000 ids at once") }
        }

        func run() async throws { try await place.perform(RevokeInvitationCodes(id, of: chosen.api)) }
    }
}

/// The commands `concord bar …`.
struct BarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bar", abstract: "Keep e-mail addresses, their domains and networks away.",
        discussion: """
            concord bar add domain mail.example --reason "throw-away addresses"
            concord bar add network 203.0.113.0/24 --api messenger --reason "spam"

            Who has a barred address cannot register, and no one can change to it. From a barred network no one can register \
            or sign in; those who are signed in stay so ('concord people suspend'). A domain stands for those below it, too. \
            The client's address is the one that the server knows: see --trusted-proxy of 'concord serve'. In Deuce Diary, whose \
            users sign in elsewhere, bars hold for the first token of a user. All of it takes effect on every node at once.
            """,
        subcommands: [Add.self, Remove.self, List.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Bar e-mail domains, e-mail addresses or networks.",
            discussion: """
                concord bar add address anna@example.com --reason "asked by letter"

                The values are checked first: if one is wrong, nothing is done. The reason is in 'concord bar list' and \
                'concord audit', and not told to who is refused. An API has at most 10,000 bars.
                """)

        @OptionGroup var bars: BarValues
        @OptionGroup var why: BarReason
        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            try await place.perform(AddBars(bars.kind, bars.value, because: why.reason, in: chosen.apis))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Lift bars.")

        @OptionGroup var bars: BarValues

        @Option(help: ArgumentHelp("Why, for the audit.", valueName: "text"))
        var reason = ""

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var place: DatabaseOptions

        func validate() throws {
            if reason.count > 300 { throw ValidationError("--reason has more than 300 characters") }
        }

        func run() async throws {
            try await place.perform(RemoveBars(bars.kind, bars.value, because: reason, in: chosen.apis))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List what is barred, since when and why.")

        @OptionGroup var chosen: ChosenAPIs
        @OptionGroup var listing: ListOptions
        @OptionGroup var place: DatabaseOptions

        func run() async throws { try await place.perform(ListBars(of: chosen.apis, format: listing.format)) }
    }
}

extension Bars.Kind: ExpressibleByArgument {}

/// The values that are barred.
struct BarValues: ParsableArguments {
    @Argument(help: "What the values are: domain, address or network.")
    var kind: Bars.Kind

    @Argument(help: "Domains (example.com), e-mail addresses, or networks (203.0.113.0/24, 2001:db8::/32, 192.0.2.1).")
    var value: [String]

    func validate() throws {
        if value.count > 1000 { throw ValidationError("Give at most 1,000 values at once") }
    }
}

/// Why something is barred.
struct BarReason: ParsableArguments {
    @Option(help: ArgumentHelp("Why, for the list of bars and the audit.", valueName: "text"))
    var reason: String

    func validate() throws {
        if reason.allSatisfy(\.isWhitespace) { throw ValidationError("--reason is empty") }
        if reason.count > 300 { throw ValidationError("--reason has more than 300 characters") }
    }
}

/// The APIs that a command is for.
struct ChosenAPIs: ParsableArguments {
    @Option(
        name: .customLong("api"),
        help: ArgumentHelp(
            "Only this API; may be given several times. By default all with a registration: "
                + "\(Self.names.joined(separator: ", ")).",
            valueName: "api"))
    var apis: [String] = []

    private static let names = ConcordAPI.all.filter(\.hosted.hasRegistration).map(\.name)

    func validate() throws { for name in apis { _ = try ConcordAPI.named(name) } }
}

/// The one API that a command is for.
struct ChosenAPI: ParsableArguments {
    @Option(help: ArgumentHelp("The API.", valueName: "api"))
    var api: String

    func validate() throws { _ = try ConcordAPI.named(api) }
}
