import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Announces what this node has committed to the other nodes: by a connection and a thread of its own, outside the
/// transactions, as many announcements at once as there are.
///
/// A `NOTIFY` in a transaction would hold a lock of the whole server until the transaction is on the disk, so that
/// transactions which notify could not share a flush. Here it holds that lock for a moment, because nothing is written
/// that has to be flushed. What is lost when this process dies, others notice and read.
final class PostgreSQLNotifier: Sendable {
    /// Makes the text of an announcement; nil when it has none, so that listeners must read.
    typealias Text = @Sendable () -> String?

    /// The time between heartbeats.
    private static let beat: Duration = .seconds(1)
    /// The time between two notifications, in which announcements gather.
    private static let pace = 0.001
    /// The number of announcements that wait for the server. Beyond it listeners are told to read instead.
    private static let maximumWaiting = 50_000
    /// The longest time for which a stop waits.
    private static let patience: Duration = .seconds(2)

    private struct State {
        var waiting: [Text] = []
        /// The server's processes that may still commit, although their connections were lost.
        var doubts: [Int32] = []
        var isRunning = false
        var isOver = false
        var hasEnded = false
    }

    let node: PostgreSQLNode
    private let url: String
    /// Called when a transaction of this node has ended whose outcome was unknown.
    private let gap: @Sendable () -> Void
    private let state = NIOLockedValueBox(State())
    private let bell = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(url: String, node: PostgreSQLNode, gap: @escaping @Sendable () -> Void) {
        (self.url, self.node, self.gap) = (url, node, gap)
    }

    /// Begins to send heartbeats.
    func start() {
        let isFirst = state.withLockedValue { state in
            defer { state.isRunning = true }
            return !state.isRunning && !state.isOver
        }
        guard isFirst else { return }
        let thread = Thread { self.run() }
        thread.name = "postgresql notifier"
        thread.start()
    }

    /// Announces a text soon. It never blocks.
    func announce(_ text: @escaping Text) {
        start()
        let mustWake = state.withLockedValue { state in
            // Listeners read everything anyway once one of these has become a gap.
            if state.waiting.count >= Self.maximumWaiting { state.waiting = [{ nil }] }
            state.waiting.append(text)
            return state.waiting.count == 1
        }
        if mustWake { bell.signal() }
    }

    /// Lets listeners read once it is certain that a transaction has ended.
    ///
    /// - Parameter process: The server's process that runs it; its connection was lost during the commit.
    func doubt(_ process: Int32) {
        start()
        state.withLockedValue { $0.doubts.append(process) }
    }

    /// Sends what waits, and takes leave. It blocks, for two seconds at most.
    ///
    /// - Returns: False when the node has not announced anything, so that it has to take leave in another way.
    func stop() -> Bool {
        end() && ended.wait(timeout: .now() + 3) == .success
    }

    /// Does the same, and does not wait.
    @discardableResult
    func end() -> Bool {
        let isRunning = state.withLockedValue { state in
            defer { state.isOver = true }
            return state.isRunning && !state.hasEnded
        }
        if isRunning { bell.signal() }
        return isRunning
    }

    // MARK: The thread

    private func run() {
        var line = Line(url: url, node: node)
        var nextBeat = ContinuousClock.now
        var number: Int64 = 0
        var end: ContinuousClock.Instant?
        while true {
            let pause = nextBeat - .now
            if pause > .zero, end == nil { _ = bell.wait(timeout: .now() + pause.seconds) }
            let (waiting, doubts, isOver) = state.withLockedValue { state in
                defer { state.waiting = [] }
                return (state.waiting, state.doubts, state.isOver)
            }
            if isOver, end == nil { end = .now + Self.patience }
            let mayTry = { end.map { $0 > .now } ?? !self.state.withLockedValue { $0.isOver } }
            var news = NodeNews.batches(of: waiting.map { $0() }, after: &number, node: node.id)
            if !doubts.isEmpty, line.haveEnded(doubts) {
                state.withLockedValue { state in state.doubts.removeAll(where: doubts.contains) }
                number += 1
                news.append(NodeNews(.gap, number, of: node.id))
                gap()
            }
            let isDone = isOver && waiting.isEmpty
            if isDone { news.append(NodeNews(.end, number, of: node.id)) }
            if nextBeat <= .now {
                news.append(NodeNews(.beat, number, of: node.id))
                nextBeat = .now + Self.beat
            }
            line.send(news, while: mayTry)
            if isDone { break }
            if !waiting.isEmpty, !isOver { Thread.sleep(forTimeInterval: Self.pace) }
        }
        state.withLockedValue { $0.hasEnded = true }
        ended.signal()
    }

    /// The connection of the thread.
    private struct Line {
        let url: String
        let node: PostgreSQLNode
        private var connection: PostgreSQLConnection?
        private var pause = 0.05

        init(url: String, node: PostgreSQLNode) { (self.url, self.node) = (url, node) }

        /// Sends notifications, over another connection when one is lost.
        mutating func send(_ news: [NodeNews], while mayTry: () -> Bool) {
            guard !news.isEmpty else { return }
            let notifications = news.map { (channel: node.channel(for: $0.kind), text: $0.text) }
            while true {
                do {
                    try connected().notify(notifications)
                    pause = 0.05
                    return
                } catch {
                    connection = nil
                    guard mayTry() else { return }
                    Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
                    pause = min(0.5, pause * 2)
                }
            }
        }

        /// Returns whether none of the server's processes runs a transaction any more.
        mutating func haveEnded(_ processes: [Int32]) -> Bool {
            do {
                var isEmpty = true
                let list = processes.map(Int.init)
                try connected().query(
                    "SELECT 1 FROM pg_stat_activity WHERE pid IN (\(list: list)) AND state <> 'idle'"
                ) { _ in
                    isEmpty = false
                    return false
                }
                return isEmpty
            } catch {
                connection = nil
                return false
            }
        }

        private mutating func connected() throws -> PostgreSQLConnection {
            if let connection, !connection.isBroken { return connection }
            let new = try PostgreSQLConnection(url: url, namespace: node.namespace, name: node.name)
            // Nothing that must be on the disk is written here.
            try new.simple("SET synchronous_commit = off")
            connection = new
            return new
        }
    }
}

/// A node of a database: an open ``Database`` of one process.
struct PostgreSQLNode: Sendable {
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    /// The schema of its tables. Only nodes with the same one tell each other what happened.
    let namespace: String

    /// The name of its connections, by which others see whether it lives.
    var name: String { prefix + id }
    /// The names of the connections of all nodes begin with this text. PostgreSQL cuts names after 63 bytes.
    var prefix: String { "concord \(namespace.prefix(40)) " }

    /// Heartbeats have a channel of their own, because nodes of an older version do not know them.
    func channel(for kind: NodeNews.Kind) -> String {
        switch kind {
        case .batch, .gap: "concord_\(namespace)"
        case .beat, .end: "concord_\(namespace) beats"
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
