import ArgumentParser
import Backend
import ContractCheck
import DunbarCheck
import GTSDCheck
import GTSDService
import Identity
import MessengerCheck
import MessengerService
import MonicaCheck
import MonicaService

/// An API of this program: how it is hosted, how it is checked, and the commands that are for it alone.
struct ConcordAPI: Sendable {
    /// The way in which a run of the checker gets users.
    enum Check: Sendable {
        /// The run registers its own users.
        case registering(@Sendable () -> Checklist)
        /// The operator gives tokens of users.
        case given(@Sendable (_ tokens: [String]) -> Checklist)
        /// The operator gives tokens of users, or the data folder with the key that signs tokens.
        case issued(
            HostedKey, given: @Sendable (_ tokens: [String]) -> Checklist,
            making: @Sendable (LocalIssuer) -> Checklist)

        var isIssued: Bool {
            if case .issued = self { true } else { false }
        }
    }

    let hosted: any HostedAPI
    let check: Check
    /// The command of the API's name, whose subcommands are for this API alone.
    let commands: any ParsableCommand.Type

    var name: String { hosted.name }

    /// Returns every API of this program. The commands, their help and the server use this array.
    static func all(deuceDiary: DeuceDiarySettings = .init(), dunbar: DunbarSettings = .init()) -> [ConcordAPI] {
        [.messenger, .deuceDiary(deuceDiary), .monica, .gtsd, .dunbar(dunbar)]
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

    static let messenger = ConcordAPI(
        hosted: HostedMessenger(), check: .registering { MessengerScenarios.checklist },
        commands: MessengerCommands.self)

    static let monica = ConcordAPI(
        hosted: HostedMonica(), check: .given { MonicaScenarios.checklist($0) },
        commands: MonicaCommands.self)

    static let gtsd = ConcordAPI(
        hosted: HostedGTSD(), check: .registering { GTSDScenarios.checklist }, commands: GTSDCommands.self)

    static func dunbar(_ settings: DunbarSettings = .init()) -> ConcordAPI {
        ConcordAPI(
            hosted: settings.hosted, check: .registering { DunbarScenarios.checklist },
            commands: DunbarCommands.self)
    }
}
