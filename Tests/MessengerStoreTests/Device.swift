import ContractClient
import Foundation
import GRDB
import HTTPTypes
import MessengerAPI
import MessengerClient
import Testbed

@testable import MessengerStore

/// A device of a schedule: its files, which outlive its processes, and its network.
final class Device: @unchecked Sendable {
    let name: String
    let folder: URL
    private let plan: SchedulePlan
    private let server: ModelServer
    private let user: Int64
    private var sockets: [ModelSocket] = []
    /// The present process; nil while the app is not running.
    private(set) var engine: StoreEngine?
    private var death = Death()
    private(set) var isOnline = true
    /// Whether faults have ended.
    var isCalm = false
    /// The chats that the present process shows.
    var shown: Set<Messenger.Chat.ID> = []

    /// Counts the transactions until a process dies.
    final class Death: TransactionObserver, @unchecked Sendable {
        struct Dead: Error {}

        var commitsLeft: Int?
        var isDead = false

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
        func databaseWillCommit() throws {
            if let left = commitsLeft {
                if left == 0 { isDead = true }
                commitsLeft = left - 1
            }
            // Nothing of a dead process reaches the disk.
            if isDead { throw Dead() }
        }
    }

    init(_ name: String, _ plan: SchedulePlan, _ server: ModelServer, user: Int64, folder: URL) {
        (self.name, self.plan, self.server, self.user, self.folder) = (name, plan, server, user, folder)
    }

    var simulation: Simulation { server.simulation }
    var isDead: Bool { engine == nil || death.isDead }

    // MARK: Processes

    func launch() throws {
        let simulation = simulation
        let death = Death()
        self.death = death
        shown = []
        var settings = StoreSettings()
        settings.pageSize = plan.pageSize
        settings.catchUp = plan.catchUp
        // In a day nearly everything would be looks at the list and pings.
        if plan.isLong { settings.listInterval = .seconds(3600) }
        settings.executor = simulation
        settings.sleep = { try await simulation.sleep(for: $0) }
        settings.now = { Date(timeIntervalSince1970: Double(self.server.now) / 1000) }
        settings.pacing = .init(
            pingInterval: plan.isLong ? .seconds(3600) : .seconds(25), cap: plan.isLong ? .seconds(3600) : .seconds(60),
            sleep: { try await simulation.sleep(for: $0) }, random: { Double(simulation.random(0...100)) / 100 })
        settings.database.prepareDatabase { db in db.add(transactionObserver: death, extent: .databaseLifetime) }
        let engine = try StoreEngine(client: client(of: death), user: .init(user), folder: folder, settings: settings)
        self.engine = engine
        simulation.note("\(name) launches")
        Task { await engine.start() }
    }

    /// Ends the process after a number of further transactions, between two of which anything may be lost.
    func die(after commits: Int) {
        death.commitsLeft = commits
        simulation.note("\(name) is to die after \(commits) commits")
    }

    /// Ends the process now, wherever it is.
    func die() {
        guard let engine else { return }
        death.isDead = true
        self.engine = nil
        for socket in sockets { socket.cut() }
        sockets = []
        simulation.note("\(name) dies")
        // Its tasks, which can do nothing any more, have to end.
        Task { await engine.stop() }
    }

    private func client(of process: Death) -> MessengerClient {
        let simulation = simulation
        let tokens = StoredTokens(
            accessToken: "\(name)-\(user)", refreshToken: "r", expiresAt: .distantFuture, user: "\(user)")
        let retry = Retry(
            sleep: { try await simulation.sleep(for: $0) }, random: { Double(simulation.random(0...100)) / 100 })
        let network = Network(device: self, process: process)
        return MessengerClient(
            baseURL: URL(string: "http://server")!, store: MemoryTokenStore(tokens), transport: network,
            sockets: network, retry: retry)
    }

    // MARK: The network

    func goOffline() {
        isOnline = false
        simulation.note("\(name) is offline")
        for socket in sockets { socket.cut() }
        sockets = []
    }

    func goOnline() {
        isOnline = true
        simulation.note("\(name) is online")
    }

    /// The network as a process of the device sees it.
    private struct Network: Transport, SocketTransport {
        let device: Device
        let process: Death

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            let simulation = device.simulation
            let what =
                "\(device.name): \(request.method) \(request.url.path)\(request.url.query.map { "?" + $0 } ?? "")"
            try await simulation.sleep(for: simulation.random(device.plan.delay))
            guard device.isOnline, !process.isDead else { throw URLError(.notConnectedToInternet) }
            if !device.isCalm, simulation.chance(device.plan.loss) { throw URLError(.networkConnectionLost) }
            let answer = device.server.answer(request)
            simulation.note("\(what): \(answer.status.code)")
            if !device.isCalm, simulation.chance(device.plan.loss) {
                simulation.note("\(what): the answer is lost")
                throw URLError(.networkConnectionLost)
            }
            try await simulation.sleep(for: simulation.random(device.plan.delay))
            guard device.isOnline, !process.isDead else { throw URLError(.networkConnectionLost) }
            return answer
        }

        func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
            try await device.simulation.sleep(for: device.simulation.random(device.plan.delay))
            guard device.isOnline, !process.isDead else { throw URLError(.notConnectedToInternet) }
            let socket = ModelSocket(device.server, delay: device.plan.delay)
            device.sockets.append(socket)
            return socket
        }
    }
}
