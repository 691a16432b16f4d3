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
        abstract: "Hold a server to the contract of an API.",
        discussion: """
            Tries each promise of the contract on a running server, Concord's or any other, as its clients would: \
            through the SDK, and with requests written by hand. Every answer and every frame is compared with the \
            contract's members, types and formats.

                concord check messenger http://localhost:8080
                concord check messenger https://example.com --format junit > check.xml
                concord check deuce-diary http://localhost:8081 --data ./data
                concord check monica http://localhost:8082/api --token $TOKEN --token $ANOTHER
                concord check gtsd http://localhost:8083
                concord check dunbar http://localhost:5000/api

            A failure shows what was expected and found, and shell commands that repeat the request (with curl; for \
            sockets with PyPI's websockets).

            The run makes accounts of its own and looks at nobody else's. At the end of each scenario its sessions are \
            signed out; what the API has no way to remove is counted in the report. Where the server limits \
            registrations (429 with Retry-After), the run waits.

            Deuce Diary's users come with tokens of somebody else's. --data is the data folder of a Concord, whose key \
            makes tokens for users of the run's own; the server may be running. For another server, --token gives \
            tokens of its users, three for everything: only what the published document says is tried then, one \
            scenario after the other, and they keep the groups that are made.

            Monica's accounts are made by its operator: --token gives a token of one account, or of each of two, so that \
            it is also tried that neither sees the other. What a scenario makes there is removed again. A token may ask \
            a hundred times a minute, so the run waits now and then, and says so; with several tokens of an account it \
            takes them in turn.

            --level contract is for servers that were made from the published document alone. The rest is what Concord \
            settles where the document is silent, and what it adds.

            The report goes to standard output, progress to standard error. Exit codes: 0 the server keeps the \
            contract, 1 a scenario failed, 2 no server of this API answers, 64 bad arguments, 130 interrupted.
            """)

    /// Documented in docs/checking.md.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json, junit
    }

    enum Strictness: String, CaseIterable, ExpressibleByArgument {
        case contract, all

        var level: Level { self == .all ? .addition : .contract }
    }

    @Argument(help: "Which API: \(ConcordAPI.names.joined(separator: ", ")).")
    var api: String

    @Argument(
        help: ArgumentHelp("What the contract's paths are appended to.", valueName: "url"),
        transform: Check.baseURL)
    var url: URL?

    @Option(help: "text, json, or junit for CI servers.")
    var format = Format.text

    @Option(
        help: ArgumentHelp(
            "Only scenarios with this text in their name or clause. Repeatable.", valueName: "pattern"))
    var only: [String] = []

    @Option(help: "contract: what the published document says; all: also what Concord settles and adds.")
    var level = Strictness.all

    @Option(help: "How long one scenario may take, in seconds. (default: 120)")
    var timeout: Int?

    @Option(help: "How many scenarios are under way at a time.")
    var parallel = 4

    // A token may begin with a hyphen.
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Deuce Diary, Monica: the bearer token of one of the server's users. Repeatable; each of somebody else.",
            valueName: "token"))
    var token: [String] = []

    @Option(
        help: ArgumentHelp(
            "Deuce Diary: the server's data folder, whose key makes tokens. [CONCORD_DATA] (default: ./data)",
            valueName: "folder"))
    var data: String?

    @Flag(help: "List the scenarios, with their clauses and levels, and try none.")
    var list = false

    static func baseURL(_ text: String) throws -> URL {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let url = URL(string: trimmed), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false, url.query == nil, url.fragment == nil
        else { throw ValidationError("'\(text)' is no base URL such as http://localhost:8080") }
        return url
    }

    func validate() throws {
        let check = try ConcordAPI.named(api).check
        if url == nil, !list {
            throw ValidationError("Which server? Give its base URL: concord check \(api) http://localhost:8080")
        }
        switch check {
        case .registering where data != nil || !token.isEmpty:
            throw ValidationError(
                "--token and --data are for \(Self.issuing): the users of \(api) register themselves")
        case .given where data != nil:
            throw ValidationError("--data is for \(Self.issuing): give tokens of \(api) with --token")
        case .given where token.isEmpty && !list:
            throw ValidationError(
                "\(api) has no sign-in: give a token with --token (concord token \(api) --help)")
        case .registering, .given, .issued: break
        }
        if !token.isEmpty, data != nil { throw ValidationError("--token or --data, not both") }
        if Set(token).count != token.count { throw ValidationError("each --token is of somebody else") }
        if list, format == .junit { throw ValidationError("--list is text or json") }
        if let timeout, timeout < 1 { throw ValidationError("--timeout is a number of seconds above 0") }
        guard 1...64 ~= parallel else { throw ValidationError("--parallel is 1 to 64") }
    }

    func run() async throws {
        let checklist = try checklist()
        let items = checklist.items(matching: only)
        guard !items.isEmpty else {
            throw ValidationError(
                "No scenario has \(only.map { "'\($0)'" }.joined(separator: " or ")) in it: see --list")
        }
        guard !list, let url else { return print(listing(of: items), terminator: "") }

        // Deuce Diary's given users have a past, which only the contract's own scenarios allow for.
        let havePast = try ConcordAPI.named(api).check.isIssued && !token.isEmpty
        let server = Server(
            baseURL: url, transport: URLSessionTransport(configuration: connections),
            sockets: NIOSocketTransport(), level: havePast ? .contract : level.level)
        let checker = Checker(checklist, parallel: havePast ? 1 : parallel, limit: timeout.map { .seconds($0) })
        do {
            try await checker.reach(server)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            throw ExitCode(2)
        }
        let display = ProgressDisplay()
        let run = Task { await checker.run(items, on: server) { display.show($0) } }
        let listening = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                // Once: sessions are still signed out. Twice: at once.
                if run.isCancelled { Self.exit(withError: ExitCode(130)) }
                run.cancel()
            }
        }
        let report = await run.value
        listening.cancel()
        display.clear()
        print(text(of: report), terminator: "")
        if run.isCancelled { throw ExitCode(130) }
        if report.ended != nil { throw ExitCode(2) }
        if report.failed > 0 { throw ExitCode(1) }
    }

    private func checklist() throws -> Checklist {
        switch try ConcordAPI.named(api).check {
        case .registering(let checklist): checklist()
        case .given(let checklist): checklist(token)
        case .issued(let key, let given, let making):
            list || !token.isEmpty ? given(token) : making(try issuer(key))
        }
    }

    /// Returns the issuer of the server that is checked. A key made here would be of no use to it.
    private func issuer(_ key: HostedKey) throws -> LocalIssuer {
        let environment = Environment.process
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let isThere =
            environment.variables[key.variable] != nil
            || FileManager.default.fileExists(atPath: "\(folder)/keys/\(key.name)")
        guard isThere else {
            throw ValidationError(
                "There is no key for tokens in \(folder): give the server's data folder (--data) or its users' tokens "
                    + "(--token)")
        }
        return try SecretKeys(folder: folder, environment: environment.variables).issuer(key)
    }

    /// The names of the APIs whose tokens the data folder's key makes.
    private static var issuing: String {
        ConcordAPI.all.filter(\.check.isIssued).map(\.name).joined(separator: ", ")
    }

    /// A scenario may have fifty requests under way; six connections, the usual limit, would do them one after another.
    private var connections: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.concord
        configuration.httpMaximumConnectionsPerHost = 32
        // A slow server is the scenario's affair: no request ends before it does.
        configuration.timeoutIntervalForRequest = TimeInterval(timeout ?? 120)
        return configuration
    }

    private func text(of report: Report) -> String {
        switch format {
        case .text: report.text
        case .json: report.json
        case .junit: report.junit
        }
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
