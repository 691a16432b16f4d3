import ArgumentParser
import Backend
import ContractCheck
import ContractClient
import Foundation
import Identity
import NIOSockets
import UnixSignals

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a running server against the contract of an API.",
        discussion: """
            Tests each promise of the contract on a running server, Concord's or any other, in the way its clients \
            use it: through the SDK, and with requests written by hand. Every answer and every frame is compared with \
            the contract's members, types and formats.

                concord check messenger http://localhost:8080
                concord check messenger https://example.com --format junit > check.xml
                concord check deuce-diary http://localhost:8081 --data ./data
                concord check monica http://localhost:8082/api --token $TOKEN --token $ANOTHER
                concord check gtsd http://localhost:8083
                concord check dunbar http://localhost:5000/api

            Scenarios that fail for the same reason are one failure; clauses that they did not reach are "not tried". \
            A failure shows the expected and the actual value, and shell commands that repeat the request (with curl; \
            for sockets with PyPI's websockets).

            The run creates its own accounts and does not read those of other users. At the end of each scenario its \
            sessions are signed out; resources that the API cannot delete are counted in the report. When the server \
            limits registrations (429 with Retry-After), the run waits.

            Deuce Diary's users have tokens of another service. --data is the data folder of a Concord server, whose \
            key signs tokens for the run's own users; the server may be running. For another server, --token gives \
            tokens of its users; three are needed for all scenarios. Then only the published document's promises are \
            tested, one scenario after the other, and the users keep the groups that are created.

            Monica's accounts are created by its operator: --token gives a token of one account, or of each of two \
            accounts, which tests that neither sees the other's data. Scenarios remove what they create. Each token \
            is limited to a hundred requests in a minute, so the run sometimes waits, and says so. With several tokens \
            of an account it uses them in turn.

            --level contract is for servers that were built from the published document alone. The other scenarios \
            test what Concord decided where the document is silent, and its additions. --level monica4 is for servers \
            of Monica 4 and for Concord's with a token of that dialect: it tests what apps of Monica 4 take for granted, \
            and skips what a server does not have.

                concord check monica https://monica.example/api --level monica4 --token $TOKEN

            The report goes to standard output, progress to standard error. Exit codes: 0 the server keeps the \
            contract, 1 a scenario failed, 2 no server of this API answers, 64 wrong arguments, 74 the report could \
            not be written, 130 interrupted.
            """)

    /// The formats are documented in docs/checking.md.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json, junit, markdown
    }

    enum Strictness: String, CaseIterable, ExpressibleByArgument {
        case contract, all, monica4

        var level: Level {
            switch self {
            case .contract: .contract
            case .all: .addition
            case .monica4: .dialect
            }
        }
    }

    @Argument(help: "The API: \(ConcordAPI.names.joined(separator: ", ")).")
    var api: String

    @Argument(
        help: ArgumentHelp("The base URL, to which the contract's paths are appended.", valueName: "url"),
        transform: Check.baseURL)
    var url: URL?

    @Option(help: "The format of the report: text, json, junit for CI servers, or markdown for a job's summary.")
    var format = Format.text

    @Option(
        help: ArgumentHelp(
            "Run only scenarios with this text in their name or clause. Repeatable.", valueName: "pattern"))
    var only: [String] = []

    @Option(
        help: """
            contract: the promises of the published document; all: also Concord's decisions and additions; monica4: what \
            apps of Monica 4 take for granted.
            """)
    var level = Strictness.all

    @Option(help: "The time limit of one scenario, in seconds. (default: 120)")
    var timeout: Int?

    @Flag(help: "Begin no further scenario after the first failure.")
    var failFast = false

    @Option(help: "The number of scenarios that run at the same time.")
    var parallel = 4

    // A token may begin with a hyphen.
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Deuce Diary, Monica: the bearer token of one of the server's users. Repeatable, with tokens of different "
                + "users.",
            valueName: "token"))
    var token: [String] = []

    @OptionGroup(title: "Deuce Diary: the server whose key signs tokens")
    var data: DataOption

    @Flag(help: "List the scenarios with their clauses and levels, without running them.")
    var list = false

    static func baseURL(_ text: String) throws -> URL {
        do { return try Checker.baseURL(text) } catch { throw ValidationError("\(error)") }
    }

    func validate() throws {
        let check = try ConcordAPI.named(api).check
        if level == .monica4, check.checklist(ofDialect: level.rawValue, []) == nil {
            throw ValidationError("--level monica4 is for monica")
        }
        if url == nil, !list {
            throw ValidationError("Give the base URL of the server: concord check \(api) http://localhost:8080")
        }
        switch check {
        case .registering where data.data != nil || !token.isEmpty:
            throw ValidationError(
                "--token and --data are for \(Self.issuing): the users of \(api) register themselves")
        case .given where data.data != nil:
            throw ValidationError("--data is for \(Self.issuing): give tokens of \(api) with --token")
        case .given where token.isEmpty && !list:
            throw ValidationError(
                "\(api) has no sign-in: give a token with --token (concord \(api) token create --help)")
        case .registering, .given, .issued: break
        }
        if !token.isEmpty, data.data != nil { throw ValidationError("Give --token or --data, not both") }
        if Set(token).count != token.count { throw ValidationError("Each --token must be a different one") }
        if list, format == .junit || format == .markdown {
            throw ValidationError("--list supports the formats text and json")
        }
        if let timeout, timeout < 1 { throw ValidationError("--timeout must be a number of seconds above 0") }
        guard 1...64 ~= parallel else { throw ValidationError("--parallel must be 1 to 64") }
    }

    func run() async throws {
        let checklist = try checklist()
        let items = checklist.items(matching: only)
        let unknown = only.filter { checklist.items(matching: [$0]).isEmpty }
        guard unknown.isEmpty else {
            throw ValidationError(
                "No scenario contains \(unknown.map { "'\($0)'" }.joined(separator: " or ")): see --list")
        }
        guard !list, let url else { return print(listing(of: items), terminator: "") }

        // The users whose tokens were given for Deuce Diary may have data already, which only the contract's own
        // scenarios allow.
        let haveData = try ConcordAPI.named(api).check.isIssued && !token.isEmpty
        let server = Server(
            baseURL: url, transport: URLSessionTransport(configuration: connections),
            sockets: NIOSocketTransport(openingTime: .seconds(Int64(timeout ?? 30))),
            level: haveData ? .contract : level.level)
        let checker = Checker(
            checklist, parallel: haveData ? 1 : parallel, limit: timeout.map { .seconds($0) }, failsFast: failFast)
        do {
            try await checker.reach(server)
        } catch {
            FileHandle.standardError.say("\(error)\n")
            throw ExitCode(2)
        }
        let display = ProgressDisplay()
        let output = ReportOutput(format: format)
        let run = Task {
            await checker.run(items, on: server) { progress in
                display.show(progress)
                if case .interrupted(let report) = progress { output.write(report) }
            }
        }
        let listening = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                // After the first signal sessions are still signed out; the second ends the process at once.
                if run.isCancelled { Self.exit(withError: ExitCode(130)) }
                run.cancel()
            }
        }
        let report = await run.value
        listening.cancel()
        display.clear()
        output.write(report)
        if run.isCancelled {
            display.showRemaining(of: report)
            throw ExitCode(130)
        }
        if output.isLost { throw ExitCode(74) }
        if report.ended != nil { throw ExitCode(2) }
        if report.failed > 0 { throw ExitCode(1) }
    }

    private func checklist() throws -> Checklist {
        let check = try ConcordAPI.named(api).check
        if let checklist = check.checklist(ofDialect: level.rawValue, token) { return checklist }
        switch check {
        case .registering(let checklist): return checklist()
        case .given(let checklist, _): return checklist(token)
        case .issued(let key, let given, let making):
            return list || !token.isEmpty ? given(token) : making(try issuer(key))
        }
    }

    /// Returns the issuer of the server that is checked. A key that is created here would not be known to that server.
    private func issuer(_ key: HostedKey) throws -> LocalIssuer {
        let environment = try data.environment()
        let folder = try data.folder(environment)
        let isThere =
            environment.variables[key.variable] != nil
            || FileManager.default.fileExists(atPath: "\(folder)/keys/\(key.name)")
        guard isThere else {
            throw ValidationError(
                "There is no token key in \(folder): give the server's data folder (--data) or its users' tokens "
                    + "(--token)")
        }
        return try SecretKeys(folder: folder, environment: environment.variables).issuer(key)
    }

    /// The names of the APIs whose tokens are signed with a key of the data folder.
    private static var issuing: String {
        ConcordAPI.all.filter(\.check.isIssued).map(\.name).joined(separator: ", ")
    }

    /// A scenario may have fifty requests in flight; with the usual limit of six connections they would run one after
    /// another.
    private var connections: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.concord
        configuration.httpMaximumConnectionsPerHost = 32
        // The scenario limits the time of its requests, so that no request of a slow server ends before it.
        configuration.timeoutIntervalForRequest = TimeInterval(timeout ?? 120)
        return configuration
    }

    private func listing(of items: [Checklist.Item]) -> String {
        if format == .json { return Checklist.json(items) }
        let width = items.map(\.clause.count).max() ?? 0
        return items.map { item in
            let clause = item.clause.padding(toLength: width, withPad: " ", startingAt: 0)
            let level = item.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
            return "\(clause)  \(level)  \(item.name)\n"
        }.joined()
    }
}
