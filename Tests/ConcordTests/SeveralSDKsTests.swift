import ContractClient
import DeuceDiaryClient
import DunbarClient
import DunbarTestHost
import Foundation
import GTSDClient
import GTSDTestHost
import MessengerClient
import MessengerTestHost
import MonicaClient
import MonicaTestHost
import Testbed
import Testing

/// One file imports all five SDKs: each error and each answer has a name that no other SDK has. An SDK that meets the server
/// of another API says so.
@Suite(.timeLimit(.minutes(30))) struct SeveralSDKsTests {
    private static let stack = Stack(.sqlite, .live)

    /// Returns the root of a server, below which another API's paths are not found.
    private func root(of server: URL) throws -> URL {
        try #require(URL(string: "/", relativeTo: server)).absoluteURL
    }

    /// Returns the sentence for an answer of another API's server.
    private func sentence(_ api: String, at url: URL) -> String {
        let address = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        return "Unexpected answer from \(address): is it a \(api)?"
    }

    @Test func aMessengerAtAMonica() async throws {
        try await withMonica(on: Self.stack) { host in
            let url = try root(of: host.baseURL)
            let messenger = MessengerClient(baseURL: url, transport: host.transport)
            let error = await #expect(throws: Messenger.APIError.self) {
                try await messenger.signIn(username: "alice", password: "secret123")
            }
            #expect(error?.isFromAPI == false)
            #expect(error.map { "\($0)" } == "404 " + sentence("Messenger", at: url))
        }
    }

    @Test func aDeuceDiaryAndAMonicaAtAMessenger() async throws {
        try await withMessenger(on: Self.stack) { host in
            let url = try root(of: host.baseURL)
            let diary = DeuceDiaryClient(baseURL: url, transport: host.transport) { "token" }
            let refused = await #expect(throws: DeuceDiary.APIError.self) {
                try await diary.send(DeuceDiary.GetUser())
            }
            #expect(refused.map { "\($0)" } == "404 " + sentence("Deuce Diary", at: url))

            let configuration = APIConfiguration.selfHosted(url: url, token: "token")
            let monica = MonicaAPIClient(configuration: configuration, transport: host.transport)
            let sentence = sentence("Monica", at: configuration.baseURL)
            for ask in [
                { try await monica.getContact(id: 1).data.completeName },
                { try await "\(monica.validateToken())" }, { try await "\(monica.listTags().data.count)" },
            ] as [@Sendable () async throws -> String] {
                let error = await #expect(throws: Monica.APIError.self) { try await ask() }
                guard case .rejected(404, sentence)? = error else {
                    Issue.record("\(error as Any)")
                    continue
                }
                #expect(error?.errorDescription == sentence)
            }
        }
    }

    @Test func aGTSDAtADunbar() async throws {
        try await withDunbar(on: Self.stack) { host in
            let url = try root(of: host.baseURL)
            let gtsd = GTSDClient(baseURL: url, transport: host.transport)
            let error = await #expect(throws: GTSD.APIError.self) {
                try await gtsd.signIn(email: "anna@example.com", password: "Secret-123")
            }
            #expect(error.map { "\($0)" } == "404 " + sentence("GTSD", at: url))
        }
    }

    @Test func aDunbarAtAGTSD() async throws {
        try await withGTSD(on: Self.stack) { host in
            let url = try root(of: host.baseURL)
            let dunbar = DunbarClient(baseURL: url, transport: host.transport, isConnected: { true })
            let error = await #expect(throws: Dunbar.APIError.self) {
                try await dunbar.signIn(username: "jdoe", password: "secret123")
            }
            #expect(error?.status == 404)
            #expect(error?.localizedDescription == "Server error (404): " + sentence("Dunbar", at: url))
        }
    }

    /// The names of each contract are still there, and are the same types.
    @Test func eachErrorAndEachResponseHasItsOwnName() throws {
        let of = GTSD.Response(GTSD.DayTasks(totalTasks: 1, completedTasks: 0, tasks: []), cached: true)
        let list: Monica.Response<[Monica.Tag]> = .init(data: [])
        #expect(of.cached == true && list.data.isEmpty)
        let refusals: [any Error] = [
            Messenger.APIError(status: .notFound, message: "m"), Dunbar.APIError.serverError(404, "d"),
            Monica.APIError.notFound(resourceType: "contact", id: 1),
        ]
        let told = refusals.map { error in
            switch error {
            case let error as Messenger.APIError: "Messenger's \(error.status.code)"
            case let error as Dunbar.APIError: "Dunbar's \(error.status ?? 0)"
            case is Monica.APIError: "Monica's"
            default: "unknown"
            }
        }
        #expect(told == ["Messenger's 404", "Dunbar's 404", "Monica's"])
        #expect(Monica.APIError.self == MonicaAPIError.self)
        #expect(Dunbar.APIError.self == DunbarClient.APIError.self)
        // Three of the SDKs throw one type, which is theirs in common.
        #expect(GTSD.APIError.self == Messenger.APIError.self && DeuceDiary.APIError.self == Messenger.APIError.self)
    }
}
