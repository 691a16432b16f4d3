import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import MessengerClient
import MessengerService
import MessengerTestHost
import Observation
import Testbed

@testable import MessengerStore

/// A network that a test switches.
final class Network: Transport, SocketTransport {
    enum State { case online, offline, losingAnswers }

    private let transport: any Transport
    private let sockets: any SocketTransport
    private let state = Locked((now: State.online, open: [any Socket]()))

    init(_ host: MessengerHost) { (transport, sockets) = (host.transport, host.sockets) }

    func set(_ new: State) async {
        let cut = state.use { state in
            state.now = new
            defer { if new == .offline { state.open = [] } }
            return new == .offline ? state.open : []
        }
        for socket in cut { await socket.close(code: 1000, reason: "") }
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        if state.use({ $0.now }) == .offline { throw URLError(.notConnectedToInternet) }
        let answer = try await transport.send(request, progress: progress)
        // Reading works, so that only what changes something is uncertain.
        if state.use({ $0.now }) != .online, request.method != .get { throw URLError(.networkConnectionLost) }
        return answer
    }

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        if state.use({ $0.now }) == .offline { throw URLError(.notConnectedToInternet) }
        let socket = try await sockets.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        state.use { $0.open.append(socket) }
        return socket
    }
}

/// A device of a user: a folder, and a session that outlives processes.
@MainActor final class Phone {
    let network: Network
    let folder: URL
    let client: MessengerClient
    private var configuration = MessengerStore.Configuration()

    init(
        _ person: Person, on host: MessengerHost, _ name: String = "phone", pageSize: Int = 50,
        fileLimit: Int64 = 1 << 20
    ) {
        network = Network(host)
        folder = URL(fileURLWithPath: host.folder).appendingPathComponent(name)
        let tokens = StoredTokens(
            accessToken: person.token, refreshToken: person.refreshToken, expiresAt: .distantFuture,
            user: person.id.description)
        client = MessengerClient(
            baseURL: host.baseURL, store: MemoryTokenStore(tokens), transport: network, sockets: network, retry: .never)
        configuration.pageSize = pageSize
        configuration.fileLimit = fileLimit
        configuration.pacing = .patient
        configuration.now = { host.clock.date }
    }

    func open() async throws -> MessengerStore {
        try await MessengerStore.open(client, in: folder, configuration: configuration)
    }

    /// Opens the store and returns once it follows the server.
    func openConnected() async throws -> MessengerStore {
        let store = try await open()
        await until { store.connection.isConnected }
        return store
    }
}

/// Runs a test on the main actor with a server.
func withServer(
    on stack: Stack, settings: MessengerService.Settings = .init(),
    _ body: @escaping @MainActor @Sendable (MessengerHost) async throws -> Void
) async throws {
    try await withMessenger(on: stack, settings: settings) { host in try await body(host) }
}

/// Returns once the condition is true, which observable objects make it. The suite's time limit ends it otherwise.
@MainActor func until(_ condition: () -> Bool) async {
    while true {
        let (changes, change) = AsyncStream<Void>.makeStream()
        if withObservationTracking(condition, onChange: { change.finish() }) { return }
        for await _ in changes {}
    }
}

extension StoreConnection {
    var isConnected: Bool {
        if case .connected = self { true } else { false }
    }

    var isEnded: Bool {
        if case .ended = self { true } else { false }
    }
}

extension OutgoingMessage {
    var failure: OutgoingFailure? {
        if case .failed(let failure) = state { failure } else { nil }
    }
}

extension MessengerHost {
    func people() -> MessengerWorld {
        MessengerWorld(baseURL: baseURL, transport: transport, sockets: sockets)
    }
}

extension Person {
    /// Returns the contents of a chat's messages, the oldest first.
    func contents(of chat: Messenger.Chat.ID) async throws -> [String] {
        var contents: [String] = []
        for try await message in client.history(of: chat) { contents.append(message.content) }
        return contents.reversed()
    }
}
