import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import NIOConcurrencyHelpers
import NIOCore
import NIOSockets
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Every message reaches every listener once and in order, although a proxy cuts connections, delays bytes and loses
/// answers. `make torture` runs it with 20,000 messages.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct FaultTests {
    struct Size: Sendable {
        var chats: Int
        var listeners: Int
        var senders: Int
        /// The total number of messages.
        var messages: Int

        static let current =
            !Torture.isOn
            ? Size(chats: 5, listeners: 4, senders: 4, messages: 600)
            : Size(chats: 20, listeners: 20, senders: 4, messages: 20_000)
    }

    @Test(.timeLimit(.minutes(Torture.minutes)), arguments: Stack.Engine.available)
    func nothingIsMissedDoubledOrOutOfOrder(_ engine: Stack.Engine) async throws {
        let size = Size.current
        try await withMessenger(on: Stack(engine, .live)) { host in
            let port = try #require(host.baseURL.port)
            try await FaultyProxy.running(to: port) { proxy in
                let world = MessengerWorld(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
                let senders = try await world.people(size.senders)
                let listeners = try await world.people(size.listeners)
                let everyone = (senders + listeners).map(\.id)
                var chats: [Messenger.Chat.ID] = []
                for index in 0..<size.chats {
                    let members = everyone.filter { $0 != senders[0].id }
                    chats.append(
                        try await senders[0].send(Messenger.CreateChat.group("\(index)", members: members)).id)
                }

                // From here on all clients use the proxy.
                let faults = Faults(seed: 20_260_223)
                let behind = try #require(URL(string: "http://127.0.0.1:\(proxy.port)"))
                let heard = Heard(listeners: size.listeners, messages: size.messages)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (index, person) in listeners.enumerated() {
                        let client = try await client(of: person, at: behind)
                        let live = client.live(over: NIOSocketTransport(), pacing: .impatient)
                        for chat in chats { await live.subscribe(to: chat, since: 0) }
                        group.addTask {
                            for try await event in live {
                                if case .message(let message) = event, heard.note(message, by: index) { return }
                            }
                        }
                    }
                    proxy.setRule { direction, _ in faults.next(direction) }
                    for (index, person) in senders.enumerated() {
                        let client = try await client(of: person, at: behind)
                        let chats = chats
                        group.addTask {
                            for number in stride(from: index, to: size.messages, by: size.senders) {
                                let chat = chats[number % chats.count]
                                let sent = try await client.send(
                                    Messenger.SendMessage(chat: chat, content: "message \(number)"))
                                heard.sent(sent.message)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let figures = heard.figures()
                print(
                    """
                    faults on \(engine.rawValue): \(size.messages) messages, \(size.listeners) listeners, \
                    \(proxy.cuts) cuts: missed \(figures.missed), doubled \(figures.doubled), \
                    out of order \(figures.disordered)
                    """)
                #expect(figures == Heard.Figures())
                #expect(proxy.cuts > size.messages / 100)
                // Each message is stored once: no repeat became a second row.
                var stored: [String] = []
                for chat in chats {
                    for try await message in senders[0].client.history(of: chat, pageSize: 100) {
                        stored.append(message.content)
                    }
                }
                #expect(stored.sorted() == (0..<size.messages).map { "message \($0)" }.sorted())
            }
        }
    }

    /// Returns a client with the same session that uses the proxy, so that its sign-in is not disturbed.
    private func client(of person: Person, at url: URL) async throws -> MessengerClient {
        let configuration = URLSessionConfiguration.concord
        // On Linux, only the time-out notices that a connection ended between a response's head and its body.
        configuration.timeoutIntervalForRequest = 2
        return MessengerClient(
            baseURL: url, store: MemoryTokenStore(person.tokens),
            transport: URLSessionTransport(configuration: configuration),
            retry: .stubborn)
    }
}

extension Retry {
    /// Retries for a network that fails all the time.
    fileprivate static let stubborn = Retry(attempts: 100, base: .milliseconds(2), cap: .milliseconds(50))
}

extension LiveConnection.Pacing {
    fileprivate static let impatient = LiveConnection.Pacing(
        pingInterval: .seconds(2), patience: .seconds(10), base: .milliseconds(5), cap: .milliseconds(50))
}

/// The faults of the proxy, drawn from a seed in the order in which bytes arrive.
private final class Faults: Sendable {
    private let generator: NIOLockedValueBox<SeededGenerator>

    init(seed: UInt64) { generator = NIOLockedValueBox(SeededGenerator(seed: seed)) }

    func next(_ direction: FaultyProxy.Direction) -> FaultyProxy.Action {
        generator.withLockedValue { generator in
            switch Int.random(in: 0..<1000, using: &generator) {
            // The request is lost, or the answer is, after the server has acted.
            case 0..<4: .cut
            case 4..<6: .forwardAndCut
            case 6..<20: .delay(.milliseconds(.random(in: 1...20, using: &generator)))
            default: .forward
            }
        }
    }
}

/// The messages that each listener has received.
private final class Heard: Sendable {
    struct Figures: Equatable, Sendable {
        var missed = 0
        var doubled = 0
        var disordered = 0
    }

    private struct State {
        var sent: [Messenger.Message] = []
        var heard: [[Messenger.Message]]
    }

    private let messages: Int
    private let state: NIOLockedValueBox<State>

    init(listeners: Int, messages: Int) {
        self.messages = messages
        state = NIOLockedValueBox(State(heard: Array(repeating: [], count: listeners)))
    }

    func sent(_ message: Messenger.Message) { state.withLockedValue { $0.sent.append(message) } }

    /// Returns whether the listener has received all messages.
    func note(_ message: Messenger.Message, by listener: Int) -> Bool {
        state.withLockedValue { state in
            state.heard[listener].append(message)
            return state.heard[listener].count >= messages
        }
    }

    func figures() -> Figures {
        state.withLockedValue { state in
            let all = Set(state.sent)
            return state.heard.reduce(into: Figures()) { figures, heard in
                figures.missed += all.subtracting(heard).count
                figures.doubled += heard.count - Set(heard).count
                for chat in Dictionary(grouping: heard, by: \.chat).values {
                    figures.disordered += zip(chat, chat.dropFirst()).count { $0.id >= $1.id }
                }
            }
        }
    }
}
