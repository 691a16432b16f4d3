import CoreMetrics
import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Announces what this node has committed to the other nodes: by a connection and a thread of its own, outside the
/// transactions, as many announcements at once as there are.
///
/// A `NOTIFY` in a transaction would hold a lock of the whole server until the transaction is on the disk, so that
/// transactions which notify could not share a flush. Here it holds that lock for a moment, because nothing is written
/// that has to be flushed. What is lost when this process dies, others notice and read.
final class NodeNotifier: Sendable {
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
        var doubts: [ServerProcess] = []
        var isRunning = false
        var isOver = false
        var hasEnded = false
    }

    let bus: NodeBus
    private let busState: BusState
    private let announcements = Counter(label: "concord_bus_announcements_total")
    /// Called when a transaction of this node has ended whose outcome was unknown.
    private let gap: @Sendable () -> Void
    private let state = NIOLockedValueBox(State())
    private let bell = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter state: Learns whether there is a connection.
    init(_ bus: NodeBus, _ state: BusState, gap: @escaping @Sendable () -> Void) {
        self.bus = bus
        busState = state
        self.gap = gap
    }

    /// The number of announcements that have not been sent; nil for a node that neither announces nor listens.
    var waitingCount: Int? { state.withLockedValue { $0.isRunning ? $0.waiting.count : nil } }

    /// Begins to send heartbeats.
    func start() {
        let isFirst = state.withLockedValue { state in
            defer { state.isRunning = true }
            return !state.isRunning && !state.isOver
        }
        guard isFirst else { return }
        let thread = Thread { self.run() }
        thread.name = "node notifier"
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
    func doubt(_ process: ServerProcess) {
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
        var connections = Connections(bus, busState)
        let node = bus.node
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
            if !doubts.isEmpty, connections.haveEnded(doubts) {
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
            announcements.increment(by: waiting.count)
            connections.send(news, while: mayTry)
            if isDone { break }
            if !waiting.isEmpty, !isOver { Thread.sleep(forTimeInterval: Self.pace) }
        }
        state.withLockedValue { $0.hasEnded = true }
        ended.signal()
    }

    /// The connections over which the thread sends and settles doubts.
    private struct Connections {
        private let bus: NodeBus
        private let state: BusState
        private var sender: (any NewsSender)?
        /// The connection by which doubts are settled.
        private var database: PostgreSQLConnection?
        private var pause = 0.05

        init(_ bus: NodeBus, _ state: BusState) { (self.bus, self.state) = (bus, state) }

        /// Sends news, over another connection when one is lost.
        mutating func send(_ news: [NodeNews], while mayTry: () -> Bool) {
            guard !news.isEmpty else { return }
            while true {
                do {
                    try connected().send(news)
                    state.note(nil, of: .sending)
                    pause = 0.05
                    return
                } catch {
                    sender = nil
                    state.note(error, of: .sending)
                    guard mayTry() else { return }
                    Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
                    pause = min(0.5, pause * 2)
                }
            }
        }

        /// Returns whether none of the server's processes runs its transaction any more.
        mutating func haveEnded(_ processes: [ServerProcess]) -> Bool {
            do {
                let connection = try database ?? bus.connectToDatabase()
                database = connection
                if try processes.contains(where: connection.isBusy) { return false }
                database = nil
                return true
            } catch {
                database = nil
                return false
            }
        }

        private mutating func connected() throws -> any NewsSender {
            if let sender, !sender.isBroken { return sender }
            let new = try bus.sender()
            sender = new
            return new
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
