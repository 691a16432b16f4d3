import ContractClient
import Foundation
import MessengerClient
import NIOConcurrencyHelpers
import NIOSockets
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A load that continues while something fails. Writers repeat each message under its key until it is acknowledged;
/// listeners must receive each message once and in order.
final class Drill: Sendable {
    /// Whether `make torture` runs the tests, which then take minutes instead of seconds.
    static let isLong = Torture.isOn
    /// The number of failures in a drill.
    static let rounds = isLong ? 20 : 3
    /// The number of messages that are acknowledged before each failure.
    static let messages = isLong ? 500 : 100
    /// The number of each at every node.
    private static let (writers, listeners) = (4, 2)
    /// A request that takes longer counts as hanging.
    private static let patience = Duration.seconds(120)

    private let nodes: [URL]
    private let tokens: StoredTokens
    private let chats: [Messenger.Chat.ID]
    /// Whether the failures may end connections of clients.
    private let mayLoseConnections: Bool
    private let state = NIOLockedValueBox(State())

    private struct State {
        var isOver = false
        var receivers: [Receiver] = []
        var figures = DrillFigures()
        /// The chats to which the messages were sent, also those without an answer.
        var attempted: [String: Messenger.Chat.ID] = [:]
        var acknowledged: [String: Messenger.Message.ID] = [:]
        var latestSuccess = ContinuousClock.now
        /// The longest time without a success since it was last set to zero.
        var pause = Duration.zero
    }

    /// Runs the load, causes the failures, and compares what was stored and received with what was acknowledged.
    ///
    /// - Parameters:
    ///   - name: The title of the figures.
    ///   - balancer: The URL by which clients reach all nodes; nil when each node has clients of its own.
    ///   - rounds: The number of failures, for the title.
    ///   - breaking: Causes the failures. The load ends after it.
    static func run(
        _ name: String, at nodes: [DrillNode], through balancer: URL? = nil, mayLoseConnections: Bool,
        rounds: Int = Drill.rounds, _ breaking: @escaping @Sendable (Drill) async throws -> Void
    ) async throws -> DrillFigures {
        let urls = nodes.map { balancer ?? $0.url }
        let drill = try await Drill(urls, mayLoseConnections: mayLoseConnections)
        let receivers = try await drill.listen()
        drill.state.withLockedValue { $0.receivers = receivers }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes.indices {
                let transport = URLSessionTransport(configuration: .impatient)
                for writer in 0..<writers {
                    group.addTask { await drill.write("\(node).\(writer)", at: urls[node], over: transport) }
                }
            }
            group.addTask {
                defer { drill.state.withLockedValue { $0.isOver = true } }
                try await breaking(drill)
            }
            try await group.waitForAll()
        }
        let histories = try await drill.look()
        await drill.compare(receivers, by: histories)
        for receiver in receivers { receiver.stop() }
        let figures = drill.figures
        print(figures.table("drill: \(name), \(rounds) rounds"))
        return figures
    }

    private init(_ nodes: [URL], mayLoseConnections: Bool) async throws {
        self.nodes = nodes
        self.mayLoseConnections = mayLoseConnections
        let store = MemoryTokenStore()
        let client = MessengerClient(baseURL: nodes[0], store: store)
        try await client.send(
            Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
        try await client.signIn(username: "alice", password: "secret123")
        tokens = try #require(await store.load())
        chats = [
            try await client.send(Messenger.CreateChat.group("One", members: [])).id,
            try await client.send(Messenger.CreateChat.group("Two", members: [])).id,
        ]
    }

    var figures: DrillFigures { state.withLockedValue { $0.figures } }

    private func client(
        at node: URL, over transport: any Transport = URLSessionTransport.patient, retry: Retry
    ) -> MessengerClient {
        MessengerClient(
            baseURL: node, store: MemoryTokenStore(tokens), transport: transport, sockets: NIOSocketTransport(),
            retry: retry)
    }

    // MARK: Failures

    /// Waits until this number of further messages is acknowledged, so that the load is at its full rate.
    func acknowledged(more count: Int = messages) async throws { try await wait(for: \.acknowledged, more: count) }

    /// Waits until a condition is met, for which messages must be sent.
    func acknowledged(until isMet: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(900)
        while !isMet() {
            guard ContinuousClock.now < end else { throw Stalled(figures: figures) }
            try await acknowledged(more: 1)
        }
    }

    /// Causes a failure, and waits until the load is at its full rate again.
    ///
    /// - Returns: The longest time in which no message was acknowledged.
    func pause(_ failure: () async throws -> Void) async throws -> Duration {
        state.withLockedValue { ($0.pause, $0.latestSuccess) = (.zero, .now) }
        try await failure()
        try await acknowledged()
        return state.withLockedValue { $0.pause }
    }

    /// Waits until this number of further requests has been answered 503.
    func refused(more count: Int) async throws { try await wait(for: \.unavailable, more: count) }

    /// Waits until every listener has lost its connection this number of times since the start and has a new one.
    ///
    /// A listener waits half a second at most before it connects again. A node that is killed twice within that time
    /// ends its connection once.
    func reconnected(times: Int) async throws {
        let receivers = state.withLockedValue { $0.receivers }
        let end = ContinuousClock.now + .seconds(600)
        while !receivers.allSatisfy({ $0.losses.count >= times && $0.isConnected }) {
            guard ContinuousClock.now < end else { throw Stalled(figures: figures) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func wait(for figure: any KeyPath<DrillFigures, Int> & Sendable, more count: Int) async throws {
        let goal = figures[keyPath: figure] + count
        let end = ContinuousClock.now + .seconds(900)
        while figures[keyPath: figure] < goal {
            guard ContinuousClock.now < end else { throw Stalled(figures: figures) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    struct Stalled: Error {
        let figures: DrillFigures
    }

    // MARK: Writing

    private func write(_ writer: String, at node: URL, over transport: any Transport) async {
        let client = client(at: node, over: transport, retry: .never)
        for index in 0... {
            if state.withLockedValue({ $0.isOver }) { return }
            await send("writer \(writer) message \(index)", to: chats[index % chats.count], with: client)
        }
    }

    /// Sends a message repeatedly under its key, until it is acknowledged.
    private func send(_ text: String, to chat: Messenger.Chat.ID, with client: MessengerClient) async {
        state.withLockedValue { $0.attempted[text] = chat }
        let end = ContinuousClock.now + .seconds(900)
        var isInDoubt = false
        while ContinuousClock.now < end {
            let begun = ContinuousClock.now
            let result: Result<Messenger.Message.ID?, any Error>
            do {
                let answer = try await client.answer(
                    Messenger.SendMessage(chat: chat, content: text), idempotencyKey: text)
                if case .output(let sent) = answer.content {
                    result = .success(sent.id)
                } else {
                    result = .success(nil)
                }
            } catch {
                result = .failure(error)
            }
            let took = ContinuousClock.now - begun
            state.withLockedValue { state in
                state.figures.slowest = max(state.figures.slowest, took)
                if took > Self.patience { state.figures.wrong.append("\(text) hung for \(took)") }
                switch result {
                case .success(let id?):
                    state.pause = max(state.pause, .now - state.latestSuccess)
                    state.latestSuccess = .now
                    state.figures.acknowledged += 1
                    state.figures.inDoubt += isInDoubt ? 1 : 0
                    state.acknowledged[text] = id
                case .success(nil):
                    state.figures.wrong.append("\(text): an answer without a message")
                case .failure(let error as APIError)
                where error.status == .serviceUnavailable && error.retryAfter != nil:
                    state.figures.unavailable += 1
                case .failure(is URLError) where mayLoseConnections:
                    state.figures.cut += 1
                case .failure(let error):
                    state.figures.wrong.append("\(text): \(error)")
                }
            }
            if case .success(_?) = result { return }
            isInDoubt = true
            try? await Task.sleep(for: .milliseconds(50))
        }
        state.withLockedValue { $0.figures.wrong.append("\(text) was never acknowledged") }
    }

    // MARK: Comparing

    /// Reads every history, and sends every message again under its key, as an app does that never received the answer.
    private func look() async throws -> [Messenger.Chat.ID: [Messenger.Message.ID]] {
        let client = client(at: nodes[0], retry: Retry(attempts: 10, base: .milliseconds(50)))
        let (attempted, acknowledged) = state.withLockedValue { ($0.attempted, $0.acknowledged) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, (text, chat)) in attempted.enumerated() {
                if index >= 8 { try await group.next() }
                group.addTask {
                    let answer = try await client.answer(
                        Messenger.SendMessage(chat: chat, content: text), idempotencyKey: text)
                    guard case .output(let sent) = answer.content, sent.id == acknowledged[text],
                        answer.headers[.idempotentReplayed] == "true"
                    else { return self.state.withLockedValue { $0.figures.wrong.append("\(text) is not replayed") } }
                }
            }
            try await group.waitForAll()
        }

        var histories: [Messenger.Chat.ID: [Messenger.Message.ID]] = [:]
        var found: [String: [Messenger.Message.ID]] = [:]
        for chat in chats {
            for try await message in client.history(of: chat, pageSize: 100) {
                histories[chat, default: []].append(message.id)
                found[message.content, default: []].append(message.id)
            }
            histories[chat]?.reverse()
        }
        state.withLockedValue { [found] state in
            state.figures.lost = state.acknowledged.count { found[$0.key]?.contains($0.value) != true }
            state.figures.doubled = found.values.count { $0.count > 1 }
            for text in found.keys where state.attempted[text] == nil {
                state.figures.wrong.append("nobody sent \(text)")
            }
        }
        return histories
    }

    // MARK: Listening

    /// A subscriber to every chat that reconnects after each failure.
    private final class Receiver: Sendable {
        private struct Heard {
            var isConnected = false
            var messages: [Messenger.Chat.ID: [Messenger.Message.ID]] = [:]
            /// The reasons for which connections were lost.
            var losses: [String] = []
            /// A description of the latest event that was no message.
            var latest = ""
        }

        private let heard = NIOLockedValueBox(Heard())
        private let live: MessengerLive
        private let task = NIOLockedValueBox<Task<Void, Never>?>(nil)

        init(_ live: MessengerLive) {
            self.live = live
            let listening = Task { [heard] in
                do {
                    for try await event in live {
                        heard.withLockedValue { heard in
                            if case .message = event {} else { heard.latest = "\(event)" }
                            switch event {
                            case .connected: heard.isConnected = true
                            case .disconnected(let reason, _):
                                heard.isConnected = false
                                heard.losses.append("\(reason)")
                            case .message(let message): heard.messages[message.chat, default: []].append(message.id)
                            default: break
                            }
                        }
                    }
                } catch {
                    heard.withLockedValue { $0.latest = "ended: \(error)" }
                }
            }
            task.withLockedValue { $0 = listening }
        }

        /// Whether its connection has been confirmed and is not known to have ended.
        var isConnected: Bool { heard.withLockedValue { $0.isConnected } }
        var latest: String { heard.withLockedValue { $0.latest } }
        var losses: [String] { heard.withLockedValue { $0.losses } }
        func messages(in chat: Messenger.Chat.ID) -> [Messenger.Message.ID] {
            heard.withLockedValue { $0.messages[chat] ?? [] }
        }
        func stop() { live.close() }
    }

    private func listen() async throws -> [Receiver] {
        var receivers: [Receiver] = []
        for node in nodes {
            for _ in 0..<Self.listeners {
                let client = client(at: node, retry: Retry(attempts: 5, base: .milliseconds(50)))
                let live = client.live(
                    pacing: .init(patience: .seconds(20), base: .milliseconds(50), cap: .milliseconds(500)))
                for chat in chats { await live.subscribe(to: chat, since: 0) }
                receivers.append(Receiver(live))
            }
        }
        let end = ContinuousClock.now + .seconds(600)
        while receivers.contains(where: { !$0.isConnected }) {
            guard ContinuousClock.now < end else { throw Stalled(figures: figures) }
            try await Task.sleep(for: .milliseconds(5))
        }
        return receivers
    }

    private func compare(_ receivers: [Receiver], by histories: [Messenger.Chat.ID: [Messenger.Message.ID]]) async {
        let end = ContinuousClock.now + .seconds(600)
        for receiver in receivers {
            for (chat, expected) in histories {
                while receiver.messages(in: chat).last != expected.last, ContinuousClock.now < end {
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
        }
        state.withLockedValue { state in
            state.figures.listeners = receivers.count
            for receiver in receivers {
                state.figures.losses += receiver.losses
                for (chat, expected) in histories {
                    let found = receiver.messages(in: chat)
                    let distinct = Set(found)
                    if found.last != expected.last {
                        state.figures.wrong.append(
                            "a listener heard \(found.count) of \(expected.count) messages; \(receiver.latest)")
                    }
                    state.figures.heard += distinct.intersection(expected).count
                    state.figures.missed += Set(expected).subtracting(distinct).count
                    state.figures.heardTwice += found.count - distinct.count
                    state.figures.disordered += zip(found, found.dropFirst()).count { $0 > $1 }
                }
            }
        }
    }
}

extension URLSessionConfiguration {
    /// A short time-out, because on Linux only the time-out notices that a connection ended between a response's head
    /// and its body.
    fileprivate static var impatient: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.concord
        configuration.timeoutIntervalForRequest = 10
        return configuration
    }
}
