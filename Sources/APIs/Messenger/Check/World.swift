@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import MessengerExamples

/// A Messenger server under test, and the users of the scenarios.
package struct MessengerWorld: PeopledWorld {
    package typealias API = Messenger
    /// What only a server's operator can see.
    package struct Operator: Sendable {
        /// Returns the texts of the e-mails to an address, in the order in which they were sent.
        package var emails: @Sendable (_ address: String) async throws -> [String]

        package init(emails: @escaping @Sendable (_ address: String) async throws -> [String]) { self.emails = emails }
    }

    package let server: ValidatedServer
    let `operator`: Operator?

    package init(baseURL: URL, transport: any Transport, sockets: any SocketTransport) {
        self.init(Server(baseURL: baseURL, transport: transport, sockets: sockets))
    }

    private static let shapes = WireShapes(MessengerExamples.all)

    /// Creates a world in which every answer and frame is checked.
    ///
    /// - Parameter operator: The operator's functions; nil for a server of another operator.
    package init(_ server: Server, operator: Operator? = nil) {
        self.operator = `operator`
        self.server = ValidatedServer(server, Self.shapes) { problem, _ in ["error": .string(problem.message)] }
    }

    /// Returns an unused name: scenarios share a server.
    package func freshName(_ stem: String = "user") -> String {
        "\(stem)-\(UUID().uuidString.lowercased().prefix(12))"
    }

    /// Returns an unused name of exactly this many Unicode scalars, however few: there are 20,992 ideographs to choose
    /// from.
    package func freshName(of length: Int) -> String {
        String(String.UnicodeScalarView((0..<length).compactMap { _ in Unicode.Scalar(.random(in: 0x4E00...0x9FFF)) }))
    }

    /// Returns an unused token of a device: 64 hexadecimal digits in lower case.
    package func freshDeviceToken() -> String {
        [UUID(), UUID()].map { $0.uuidString.lowercased().replacingOccurrences(of: "-", with: "") }.joined()
    }

    /// Returns an SDK without a session.
    package func client(_ store: any TokenStore = MemoryTokenStore()) -> MessengerClient {
        MessengerClient(baseURL: baseURL, store: store, transport: transport, sockets: sockets, retry: .never)
    }

    /// Returns a new account, signed in.
    package func person() async throws -> Person { try await person("user") }

    package func person(_ stem: String) async throws -> Person {
        let name = freshName(stem)
        let password = "secret-\(name)"
        try await client().send(Messenger.Register(username: name, email: "\(name)@example.com", password: password))
        return try await signedIn(name, password)
    }

    /// Returns a new session of an account.
    package func signedIn(_ name: String, _ password: String) async throws -> Person {
        let store = MemoryTokenStore()
        let client = client(store)
        let id = try await client.signIn(username: name, password: password)
        guard let tokens = await store.load() else { throw CheckFailure("the SDK kept no tokens") }
        return Person(
            id: id, name: name, password: password, token: tokens.accessToken, refreshToken: tokens.refreshToken,
            client: client, world: self)
    }

    /// Returns several new accounts, signed in, by id.
    package func people(_ count: Int) async throws -> [Person] {
        try await together(count) { _ in try await person() }.sorted { $0.id < $1.id }
    }

    /// Opens a socket that is not signed in.
    func rawSocket() async throws -> RawSocket {
        let url = baseURL.appendingPathComponent("ws")
        return RawSocket(try await sockets.open(url, headers: [:], maximumMessageSize: 262_144))
    }
}

extension MessengerWorld: MailedWorld {
    package var sentEmails: (@Sendable (_ address: String) async throws -> [String])? { `operator`?.emails }
}

/// An account, with an SDK that is signed in to it.
package struct Person: Requester {
    package let id: Messenger.User.ID
    package let name: String
    package let password: String
    /// An access token for raw requests.
    package let token: String
    package let refreshToken: String
    package let client: MessengerClient
    let world: MessengerWorld
    package var raw: RawClient { world.raw.signed(token: token) }

    @discardableResult
    package func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == Messenger {
        try await client.send(request)
    }

    /// Returns the direct chat with another user.
    package func directChat(with other: Person) async throws -> Messenger.Chat.ID {
        try await send(Messenger.CreateChat.direct(with: other.id)).id
    }

    /// Returns a new group of this user and others.
    package func group(with others: Person...) async throws -> Messenger.Chat.ID {
        try await send(Messenger.CreateChat.group("Team", members: others.map(\.id))).id
    }

    @discardableResult
    func say(_ text: String, in chat: Messenger.Chat.ID) async throws -> Messenger.Message {
        try await send(Messenger.SendMessage(chat: chat, content: text)).message
    }

    /// Sends a message in a later second, repeating it until that second has begun.
    func say(
        _ text: String, in chat: Messenger.Chat.ID, after time: Messenger.Timestamp
    ) async throws -> Messenger.Message {
        while true {
            let message = try await say(text, in: chat)
            if message.createdAt > time { return message }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends many messages concurrently, and returns them by id.
    func say(_ count: Int, in chat: Messenger.Chat.ID) async throws -> [Messenger.Message] {
        try await together(count) { try await say("\($0)", in: chat) }.sorted { $0.id < $1.id }
    }

    func upload(_ bytes: String = "content", as filename: String = "a.txt") async throws -> Messenger.File.ID {
        try await client.upload(Upload(.bytes(Array(bytes.utf8)), filename: filename)).id
    }

    /// Opens a live socket, signed in.
    package func socket() async throws -> MessengerSocket {
        try await client.openSocket(over: world.sockets)
    }

    /// Opens a raw live socket, signed in.
    func rawSocket() async throws -> RawSocket {
        let socket = try await world.rawSocket()
        try await socket.send(["type": "auth", "token": .string(token)])
        try await socket.expect(["type": "auth_ok", "user_id": id.json])
        return socket
    }
}

/// The contract as scenarios, one list for each section.
package enum MessengerScenarios {
    package static var all: [Scenario<MessengerWorld>] {
        examples + errors + auth + sessions + sessionLists + account + archive + passwords + deletion + users + blocks
            + chats
            + members + messages
            + messageChanges + receipts + files + downloads + devices + muting + reports + live + memberEvents + backlog
            + idempotency + recovery + authorisation + AboutScenarios.all()
    }

    /// The scenarios that need the server's operator.
    package static var operated: [Scenario<MessengerWorld>] { mailed }
}
