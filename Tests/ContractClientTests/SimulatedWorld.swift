import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

/// The rules that must hold for a session in every schedule.
enum SessionLaw: String, CaseIterable {
    case kept = "no valid session is lost"
    case refusedTokensRest = "a token that was refused is not sent again"
    case oneRefresh = "one refresh is in flight for a session"
    case reasons = "a refresh has a reason: a refused token, or once for each token the clock"
    case endsEverywhere = "a session that ended ends for every call, with SignedOut"
    case calls = "every call ends, at once when it is cancelled, and without faults as it should"
    case stored = "the store holds what the session holds"
    case oneSession = "a call goes in the session that there is, and is never repeated as somebody else"
}

/// The parameters of a schedule.
struct SessionPlan {
    struct Faults {
        /// The probability that a request is lost, and that an answer is.
        var loss = 0.0
        /// The probability of a 5xx before the server has acted, and after.
        var error = 0.0
        static let none = Faults()
    }

    let rotates: Bool
    /// The lifetime of an access token, in seconds.
    let lifetime: Int
    /// The network's longest delay, one way.
    let delay: Duration
    let faults: Faults
    let storeDelay: Duration
    let storeFailure: Double
    /// The number of processes. Two share a store, as an app and its extension do.
    let processes: Int
    let tasks: Int
    let calls: Int
    let cancelled: Double
    let clockJumps: Int
    let restarts: Int
    let changesKey: Bool
    let revokes: Bool
    let signsOut: Bool
    /// The user who signs in during or after the first session, if any.
    let signsIn: String?

    init(_ simulation: Simulation) {
        func pick<T>(_ values: T...) -> T { values[simulation.random(0...values.count - 1)] }
        rotates = simulation.chance(0.5)
        lifetime = pick(60, 600, 3600)
        delay = pick(.milliseconds(10), .milliseconds(300), .seconds(2))
        faults = pick(.none, Faults(loss: 0.05, error: 0.05), Faults(loss: 0.2, error: 0.2))
        storeDelay = pick(.zero, .milliseconds(10), .seconds(1))
        storeFailure = pick(0, 0, 0.1, 0.5)
        processes = pick(1, 1, 1, 2)
        tasks = simulation.random(2...5)
        calls = simulation.random(1...3)
        cancelled = pick(0, 0.1, 0.3)
        clockJumps = pick(0, 0, 1, 3)
        restarts = pick(0, 0, 1, 2)
        changesKey = simulation.chance(0.2)
        revokes = simulation.chance(0.2)
        signsOut = simulation.chance(0.2)
        // Two processes cannot agree on who is signed in without a transaction around their store.
        signsIn = processes == 1 ? pick(nil, nil, "alice", "bob") : nil
    }
}

/// The number of events of each kind. A law is tested only if the events that could break it occur.
struct SessionCounts {
    var sends = 0
    var successes = 0
    var refusals = 0
    var refreshes = 0
    var losses = 0
    var errors = 0
    var storeFailures = 0
    var signedOut = 0
    var cancelled = 0

    static func += (left: inout Self, right: Self) {
        for path in all { left[keyPath: path] += right[keyPath: path] }
    }
    static let all: [any WritableKeyPath<Self, Int> & Sendable] = [
        \.sends, \.successes, \.refusals, \.refreshes, \.losses, \.errors, \.storeFailures, \.signedOut, \.cancelled,
    ]
}

/// A schedule: a server, its devices, and the faults that they meet.
final class SimulatedWorld: @unchecked Sendable {
    let simulation: Simulation
    let plan: SessionPlan
    let server: SimulatedServer
    private(set) var devices: [SimulatedDevice] = []
    /// The current session; nil while no user is signed in.
    private(set) var session: Int? {
        didSet { history.append((simulation.now, session)) }
    }
    /// The values of `session`, and the times at which they began.
    private var history: [(since: Duration, session: Int?)] = []
    private var callsBegun: [String: Duration] = [:]
    /// Whether faults have ended.
    private(set) var isCalm = false
    private var keyChangedAt: Duration?
    var hasLostRefreshAnswers = false
    var hasFailedToSave = false
    var count = SessionCounts()
    private(set) var violations: [(law: SessionLaw, text: String)] = []

    init(seed: UInt64, isTraced: Bool = false) {
        simulation = Simulation(seed: seed, isTraced: isTraced)
        plan = SessionPlan(simulation)
        server = SimulatedServer(simulation, lifetime: plan.lifetime, rotates: plan.rotates)
        simulation.note("\(plan)")
    }

    func violate(_ law: SessionLaw, _ text: String) {
        violations.append((law, text))
        simulation.note("AGAINST THE LAW: \(law.rawValue): \(text)")
    }

    /// Runs the schedule, and checks the laws.
    func run() {
        do {
            try simulation.run { await self.live() }
        } catch {
            violate(.calls, "\(error)")
        }
    }

    private func live() async {
        let first = server.signIn("alice")
        session = first.session
        let expiresAt = Date(timeIntervalSince1970: TimeInterval(plan.lifetime))
        let tokens = StoredTokens(
            accessToken: first.access, refreshToken: first.refresh, expiresAt: expiresAt, user: "alice")
        let store = SimulatedStore(self, tokens)
        devices = (1...plan.processes).map { SimulatedDevice("device \($0)", self, store) }
        for device in devices { device.hold(first.access, expiresAt: expiresAt, isFresh: false) }

        await withTaskGroup(of: Void.self) { group in
            for device in devices {
                for task in 1...plan.tasks {
                    group.addTask { for call in 1...self.plan.calls { await self.call(device, "\(task).\(call)") } }
                }
                for _ in 0..<plan.clockJumps { group.addTask { await self.jump(device) } }
            }
            for _ in 0..<plan.restarts { group.addTask { await self.restart() } }
            if plan.changesKey { group.addTask { await self.changeKey() } }
            if plan.revokes { group.addTask { await self.revoke() } }
            if plan.signsOut || plan.signsIn != nil { group.addTask { await self.changeUser() } }
        }
        await settle(store)
    }

    /// Returns a time within the schedule that differs from the times of all other events.
    private func someTime() -> Duration {
        simulation.random(.zero...Duration.seconds(2 * plan.lifetime)) + .microseconds(simulation.random(1...999))
    }

    // MARK: Calls

    /// Returns whether a call may belong to a session: one that existed at some time since the call began.
    func isPresent(_ session: Int, for call: String) -> Bool {
        let begun = callsBegun[call] ?? .zero
        return history.indices.contains { index in
            let end = index + 1 < history.count ? history[index + 1].since : .seconds(Int.max)
            return history[index].session == session && end >= begun
        }
    }

    private enum Ending: Equatable {
        case success, signedOut, cancelled
        case refused(Int)
        case network, store
    }

    private func call(_ device: SimulatedDevice, _ id: String) async {
        // Some calls start together, others at any time.
        if simulation.chance(0.5) { await simulation.pause(for: someTime() / 2) }
        let (before, begun) = (session, simulation.now)
        let mayRepeat = simulation.chance(0.5)
        let id = "\(device.name.last!)-\(id)"
        callsBegun[id] = begun
        let call = Task {
            _ =
                mayRepeat
                ? try await device.client.send(Simulated.Look(id: id))
                : try await device.client.send(Simulated.Act(id: id))
        }
        var cancelledAt: Duration?
        if simulation.chance(plan.cancelled) {
            let patience = simulation.random(.zero...plan.delay * 4)
            cancelledAt = begun + patience
            Task {
                await simulation.pause(for: patience)
                call.cancel()
            }
        }
        let ending = ending(await call.result)
        simulation.note("\(device.name): call \(id) ends: \(ending)")
        if let cancelledAt, simulation.now > cancelledAt + plan.storeDelay {
            violate(.calls, "call \(id) was cancelled at \(cancelledAt) and ended only now")
        }
        if simulation.now - begun > .seconds(600) { violate(.calls, "call \(id) took since \(begun)") }
        check(ending, of: id, session: before, isCancelled: cancelledAt != nil)
    }

    private func ending(_ result: Result<Void, any Error>) -> Ending {
        switch result {
        case .success: .success
        case .failure(is SignedOut): .signedOut
        case .failure(is CancellationError): .cancelled
        case .failure(let error as URLError): error.code == .cancelled ? .cancelled : .network
        case .failure(let error as APIError): error.isFromAPI ? .refused(error.status.code) : .network
        case .failure: .store
        }
    }

    private func check(_ ending: Ending, of id: String, session before: Int?, isCancelled: Bool) {
        let isOver = before.map { session != $0 || !server.isAlive($0) } ?? true
        switch ending {
        case .success: count.successes += 1
        case .signedOut:
            count.signedOut += 1
            if !isOver { violate(.kept, "call \(id) is told that its session has ended") }
        case .cancelled:
            count.cancelled += 1
            if !isCancelled { violate(.calls, "call \(id) was not cancelled, but ends so") }
        case .refused:
            // Two tokens in a row may be refused when the server's key changes while the second is in flight.
            if keyChangedAt.map({ simulation.now - $0 < .seconds(10) }) ?? false { return }
            violate(.endsEverywhere, "call \(id) ends with a refusal of its token")
        case .network:
            if plan.faults.loss == 0, plan.restarts == 0 { violate(.calls, "call \(id) fails without a reason") }
        case .store:
            if plan.storeFailure == 0 { violate(.calls, "call \(id) fails by its store") }
        }
    }

    // MARK: Faults

    private func jump(_ device: SimulatedDevice) async {
        await simulation.pause(for: someTime())
        device.setClock(to: [-3600, 0, 3600][simulation.random(0...2)])
    }

    private func restart() async {
        await simulation.pause(for: someTime())
        server.isUp = false
        simulation.note("the server is down")
        await simulation.pause(for: simulation.random(.seconds(1)...(.seconds(60))))
        server.isUp = true
        simulation.note("the server is up")
    }

    private func changeKey() async {
        await simulation.pause(for: someTime())
        server.key += 1
        keyChangedAt = simulation.now
        simulation.note("the server refuses all access tokens")
    }

    private func revoke() async {
        await simulation.pause(for: someTime())
        guard let session else { return }
        server.revoke(session)
        simulation.note("session \(session) is revoked")
    }

    private func changeUser() async {
        await simulation.pause(for: someTime())
        let device = devices[0]
        if plan.signsOut {
            simulation.note("alice signs out")
            if let session { server.revoke(session) }
            session = nil
            device.hold(nil, expiresAt: .distantPast, isFresh: true)
            try? await device.session.replace(nil)
            if simulation.chance(0.5) { await simulation.pause(for: plan.delay) }
        }
        guard let user = plan.signsIn else { return }
        simulation.note("\(user) signs in")
        let new = server.signIn(user)
        session = new.session
        let expiresAt = device.now + TimeInterval(plan.lifetime)
        device.hold(new.access, expiresAt: expiresAt, isFresh: true)
        try? await device.session.replace(
            StoredTokens(accessToken: new.access, refreshToken: new.refresh, expiresAt: expiresAt, user: user))
    }

    // MARK: Afterwards

    /// Checks, with a faultless network, that a call succeeds if a user is signed in and fails with `SignedOut` if not,
    /// now and after the next launch.
    private func settle(_ store: SimulatedStore) async {
        isCalm = true
        simulation.note("calm")
        await simulation.pause(for: .seconds(100))
        for device in devices { await expectTruth(device, "at the end") }
        await simulation.pause(for: .seconds(100))
        if devices.count == 1, let held = try? await devices[0].session.current, held != store.kept {
            violate(.stored, "\(held.accessToken) is held, \(store.kept?.accessToken ?? "nothing") kept")
        }
        await expectTruth(SimulatedDevice("device 3", self, store), "after a launch")
        if let session, server.reused.contains(session), !mayHaveLostTrack {
            violate(.kept, "session \(session) ended because its old refresh token was used again")
        }
    }

    /// Whether a rotated token may be used again because no device received its successor.
    private var mayHaveLostTrack: Bool {
        hasLostRefreshAnswers || hasFailedToSave || (devices.count > 1 && keyChangedAt != nil)
    }

    private func expectTruth(_ device: SimulatedDevice, _ when: String) async {
        let id = "\(device.name.last!)-last"
        callsBegun[id] = simulation.now
        let result = await Task { _ = try await device.client.send(Simulated.Look(id: id)) }.result
        let (ending, isAlive) = (ending(result), session.map(server.isAlive) ?? false)
        simulation.note("\(device.name): the last call ends: \(ending)")
        if ending == .success, isAlive { return }
        if ending == .signedOut, !isAlive { return }
        let law: SessionLaw = isAlive ? (when == "at the end" ? .kept : .stored) : .endsEverywhere
        violate(law, "\(device.name) \(when): \(ending)")
    }
}
