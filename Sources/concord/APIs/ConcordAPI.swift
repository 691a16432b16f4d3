import ArgumentParser
import Backend
import ContractCheck
import ContractDescribe
import ContractExamples
import ContractReference
import DunbarCheck
import DunbarExamples
import GTSDCheck
import GTSDExamples
import GTSDService
import Identity
import MessengerCheck
import MessengerExamples
import MessengerService
import MonicaCheck
import MonicaExamples
import MonicaService

/// An API of this program: how it is hosted, described and checked, and the commands that are for it alone.
struct ConcordAPI: Sendable {
    /// The way in which a run of the checker gets users.
    enum Check: Sendable {
        /// The run registers its own users.
        case registering(@Sendable () -> Checklist)
        /// The operator gives tokens of users. The dialects are those of ``Level/dialect``, by their names.
        case given(
            @Sendable (_ tokens: [String]) -> Checklist,
            dialects: [String: @Sendable (_ tokens: [String]) -> Checklist])
        /// The operator gives tokens of users, or the data folder with the key that signs tokens.
        case issued(
            HostedKey, given: @Sendable (_ tokens: [String]) -> Checklist,
            making: @Sendable (LocalIssuer) -> Checklist)

        /// Returns the checklist of a dialect for a run with these tokens; nil when the API has no dialect of the name.
        func checklist(ofDialect name: String, _ tokens: [String]) -> Checklist? {
            if case .given(_, let dialects) = self { dialects[name]?(tokens) } else { nil }
        }

        var isIssued: Bool {
            if case .issued = self { true } else { false }
        }
    }

    let hosted: any HostedAPI
    let check: Check
    /// The command of the API's name, whose subcommands are for this API alone.
    let commands: any ParsableCommand.Type
    /// Makes the API's description, which takes about a second.
    let describe: @Sendable () -> APIDescription
    /// Whether the API has a live socket.
    let hasSocket: Bool
    /// Whether requests are sent with a token, and not with a cookie.
    private let takesToken: Bool
    /// The sentence that says what the API is.
    private let sentence: String
    /// The steps to a first result on the reference page, with operations and commands between backticks.
    let steps: [String]

    /// - Parameters:
    ///   - examples: The contract's examples. They are parsed when the description is made, not at the start.
    ///   - sentence: The sentence that says what the API is.
    ///   - steps: The steps to a first result on the reference page, with operations and commands between backticks.
    ///   - signIn: Sentences that say how a client gets credentials, with operations and commands between backticks.
    init<Hosted: HostedAPI>(
        hosted: Hosted, hasSocket: Bool = false, examples: @autoclosure @escaping @Sendable () -> Examples,
        sentence: String, steps: [String], signIn: String, check: Check, commands: any ParsableCommand.Type
    ) {
        self.hosted = hosted
        self.check = check
        self.commands = commands
        self.hasSocket = hasSocket
        self.sentence = sentence
        self.steps = steps
        takesToken = if case .bearer = Hosted.Service.API.credentials { true } else { false }
        describe = {
            APIDescription(
                Hosted.Service.API.self, title: hosted.title, version: Concord.number, examples: examples(),
                signIn: signIn)
        }
    }

    var name: String { hosted.name }

    /// Returns every API of this program. The commands, their help and the server use this array.
    static func all(
        messenger: HostedMessenger = .init(), deuceDiary: DeuceDiarySettings = .init(),
        monica: HostedMonica = .init(), gtsd: HostedGTSD = .init(), dunbar: DunbarSettings = .init()
    ) -> [ConcordAPI] {
        [.messenger(messenger), .deuceDiary(deuceDiary), .monica(monica), .gtsd(gtsd), .dunbar(dunbar)]
    }

    /// Every API of this program, with default settings.
    static let all = all()
    static let names = all.map(\.name)

    /// Returns an API.
    ///
    /// - Throws: `ValidationError` when there is no API of that name.
    static func named(_ name: String) throws -> ConcordAPI {
        guard let api = all.first(where: { $0.name == name }) else {
            throw ValidationError("There is no API '\(name)'. Known: \(names.joined(separator: ", "))")
        }
        return api
    }

    /// The descriptions of all APIs, as their listeners answer them. Each is made when it is first asked for.
    ///
    /// - Parameters:
    ///   - served: The names of the APIs that are served together. The page of each has links to the others.
    ///   - hasPage: Whether the page that shows them is answered, too.
    static func documents(
        of served: [String], _ settings: ServerSettings, withPage hasPage: Bool
    ) -> [String: [ServedDocument]] {
        Dictionary(
            uniqueKeysWithValues: all.map { api in
                let files = hasPage ? ReferencePage.files(api.introduction(among: served, settings)) : []
                let page = files.map { file in
                    ServedDocument(file.path, contentType: file.contentType, policy: ReferencePage.policy) {
                        file.bytes
                    }
                }
                let openAPI = ServedDocument("/openapi.json") { Array(api.describe().openAPI.compact.utf8) }
                let asyncAPI = ServedDocument("/asyncapi.json") {
                    Array((api.describe().asyncAPI?.compact ?? "{}").utf8)
                }
                return (api.name, [openAPI] + (api.hasSocket ? [asyncAPI] : []) + page)
            })
    }

    /// Returns the first view of the API's page.
    func introduction(among served: [String], _ settings: ServerSettings) -> ReferencePage.Introduction {
        let neighbors = Self.all.filter { $0.name != name && served.contains($0.name) }
        return .init(
            title: hosted.title, version: Concord.number, sentence: sentence, steps: steps, takesToken: takesToken,
            hasSocket: hasSocket, port: settings.ports[name] ?? hosted.port,
            neighbors: neighbors.map {
                .init(
                    title: $0.hosted.title, port: settings.ports[$0.name] ?? $0.hosted.port,
                    url: settings.publicURLs[$0.name])
            })
    }

    static func messenger(_ hosted: HostedMessenger = .init()) -> ConcordAPI {
        ConcordAPI(
            hosted: hosted, hasSocket: true, examples: MessengerExamples.all,
            sentence: "Accounts, direct and group chats, files, and a live socket.",
            steps: [
                "Register: open `register` and send it. A second account makes somebody to talk to.",
                "Sign in: send `login`, and use the token of its answer with one click.",
                "Try: `createChat` with the other user's id, then `sendMessage`.",
            ],
            signIn: "`POST /auth/register` makes an account, and `POST /auth/login` answers its access token.",
            check: .registering { MessengerScenarios.checklist },
            commands: MessengerCommands.self)
    }

    static func monica(_ hosted: HostedMonica = .init()) -> ConcordAPI {
        ConcordAPI(
            hosted: hosted, examples: MonicaExamples.all,
            sentence: "Contacts with their activities, notes, tasks, gifts and tags. The SDK works with Monica 4, too.",
            steps: [
                "Make a token, in a terminal on the server: `concord monica token create --account alice`.",
                "Sign in: paste the token below.", "Try: send `createContact`, then `createNote` about the contact.",
            ],
            signIn: "The operator makes a personal access token: `concord monica token create --account alice`.",
            check: .given(
                { MonicaScenarios.checklist($0) }, dialects: ["monica4": { Monica4Scenarios.checklist($0) }]),
            commands: MonicaCommands.self)
    }

    static func gtsd(_ hosted: HostedGTSD = .init()) -> ConcordAPI {
        ConcordAPI(
            hosted: hosted, examples: GTSDExamples.all,
            sentence: "Daily tasks with evidence, streaks and badges, progress photos, and weekly plans.",
            steps: [
                "Register: open `signUp` and send it.",
                "Sign in: use the token of its answer with one click. Later, `logIn` answers a new one.",
                "Try: send `completeOnboarding` and `generatePlan`, then `listTasks`.",
            ],
            signIn: "`POST /auth/signup` makes an account, and like `POST /auth/login` answers its access token.",
            check: .registering { GTSDScenarios.checklist },
            commands: GTSDCommands.self)
    }

    static func dunbar(_ settings: DunbarSettings = .init()) -> ConcordAPI {
        ConcordAPI(
            hosted: settings.hosted, examples: DunbarExamples.all,
            sentence: """
                People who follow at most 150 others: public and private accounts, and posts with pictures and videos.
                """,
            steps: [
                "Register: open `register` and send it. You are signed in at once.",
                "Sign in: later, `login` begins a new session.", "Try: send `createPost`, then `getFeed`.",
            ],
            signIn: "`POST /register` makes an account, and `POST /login` sets the cookie of its session.",
            check: .registering { DunbarScenarios.checklist },
            commands: DunbarCommands.self)
    }
}
