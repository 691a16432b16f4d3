import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

/// A process of an app: the SDK's client and session, on a clock that may be wrong.
final class SimulatedDevice: @unchecked Sendable {
    let name: String
    let world: SimulatedWorld
    let store: SimulatedStore
    private(set) var session: TokenSession!
    private(set) var client: Client<Simulated>!
    /// The difference between this device's clock and the server's.
    private(set) var skew: TimeInterval = 0

    // The following values are what the laws check.
    /// The time at which each access token was first known to be refused.
    var refusedAt: [String: Duration] = [:]
    /// The access token that the session should have, and the time on this device's clock from which it may be renewed.
    private var held: (token: String, dueAt: Date)?
    private var askedByClock: Set<String> = []
    /// The time at which the clock was set back so that a renewal that had been due no longer is.
    private var wasDueAt: Duration?
    private var refreshing: [Int: Int] = [:]
    private var callUsers: [String: String] = [:]

    init(_ name: String, _ world: SimulatedWorld, _ store: SimulatedStore) {
        (self.name, self.world, self.store) = (name, world, store)
        let simulation = world.simulation
        let url = URL(string: "http://server")!
        let transport = SimulatedTransport(device: self)
        let retry = Retry(
            sleep: { try await simulation.sleep(for: $0) }, random: { Double(simulation.random(0...100)) / 100 })
        let open = Client<Simulated>(baseURL: url, transport: transport, retry: retry)
        session = TokenSession(
            store: store, now: { self.now },
            refresh: { token in
                let renewed = try await open.send(Simulated.Refresh(token: token))
                return .init(
                    accessToken: renewed.access, refreshToken: renewed.refresh, expiresIn: renewed.expiresIn)
            })
        client = Client(baseURL: url, transport: transport, credentials: session, retry: retry)
    }

    var now: Date { Date(timeIntervalSince1970: world.simulation.now / .seconds(1) + skew) }

    /// Records that the session has this token, either new or loaded from the store.
    func hold(_ token: String?, expiresAt: Date, isFresh: Bool) {
        guard let token else {
            held = nil
            return
        }
        let life = TimeInterval(world.server.lifetime)
        held = (token, expiresAt - (isFresh ? min(60, life / 10) : 60))
    }

    func setClock(to skew: TimeInterval) {
        if let held, now > held.dueAt { wasDueAt = world.simulation.now }
        self.skew = skew
        world.simulation.note("\(name)'s clock is \(skew) s off")
    }

    // MARK: The network's view

    func sends(_ token: String, for call: String) {
        world.count.sends += 1
        if let refused = refusedAt[token], refused < world.simulation.now {
            world.violate(.refusedTokensRest, "\(name) sends \(token), which was refused at \(refused)")
        }
        guard let session = world.server.accessTokens[token]?.session else { return }
        // The other process learns of a sign-out only from the server.
        if self === world.devices.first, !world.isPresent(session, for: call) {
            world.violate(.oneSession, "\(call) is sent with \(token) of session \(session)")
        }
        let user = world.server.users[session]
        if let before = callUsers.updateValue(user, forKey: call), before != user {
            world.violate(.oneSession, "\(call) was sent as \(before), and now as \(user)")
        }
    }

    func beginsRefresh(_ token: String) {
        world.count.refreshes += 1
        guard let session = world.server.session(ofRefreshToken: token) else { return }
        refreshing[session, default: 0] += 1
        if refreshing[session]! > 1 { world.violate(.oneRefresh, "\(name) refreshes session \(session) twice at once") }
        guard world.devices.count == 1, session == world.session, let held else { return }
        if refusedAt[held.token] != nil { return }
        // The session reads the store between the decision and the request.
        let hasBeenDue = wasDueAt.map { world.simulation.now - $0 <= world.plan.storeDelay } ?? false
        if now <= held.dueAt, !hasBeenDue {
            world.violate(.reasons, "\(name) refreshes \(held.token), neither refused nor due")
        } else if !askedByClock.insert(held.token).inserted {
            world.violate(.reasons, "\(name)'s clock asks for a second refresh of \(held.token)")
        }
    }

    func endsRefresh(_ token: String) {
        guard let session = world.server.session(ofRefreshToken: token) else { return }
        refreshing[session]! -= 1
    }

    func receives(_ response: TransportResponse, bearer: String?) {
        if let bearer {
            if response.status == .unauthorized {
                world.count.refusals += 1
                if refusedAt[bearer] == nil { refusedAt[bearer] = world.simulation.now }
            }
        } else if response.status == .ok,
            let renewed = try? JSONDecoder().decode(Simulated.Refresh.Output.self, from: Data(response.body)),
            world.server.accessTokens[renewed.access]?.session == world.session
        {
            hold(renewed.access, expiresAt: now + TimeInterval(renewed.expiresIn), isFresh: true)
        }
    }
}

/// The network between a device and the server, which is slow and loses messages.
struct SimulatedTransport: Transport {
    let device: SimulatedDevice

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let bearer = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        let last = request.url.lastPathComponent
        let what = "\(device.name): \(bearer.map { "\(last) with \($0)" } ?? "refresh \(last)")"
        device.world.simulation.note("\(what) …")
        if let bearer { device.sends(bearer, for: last) } else { device.beginsRefresh(last) }
        defer { if bearer == nil { device.endsRefresh(last) } }
        do {
            let response = try await carry(request, isRefresh: bearer == nil)
            device.world.simulation.note("\(what): \(response.status.code)")
            device.receives(response, bearer: bearer)
            return response
        } catch is CancellationError {
            device.world.simulation.note("\(what): cancelled")
            throw URLError(.cancelled)
        } catch {
            device.world.simulation.note("\(what): \((error as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)")")
            throw error
        }
    }

    private func carry(_ request: TransportRequest, isRefresh: Bool) async throws -> TransportResponse {
        let (world, simulation) = (device.world, device.world.simulation)
        let faults = world.isCalm ? .none : world.plan.faults
        try await simulation.sleep(for: simulation.random(.zero...world.plan.delay))
        if simulation.chance(faults.loss) { throw try await lost() }
        guard world.server.isUp else { throw URLError(.cannotConnectToHost) }
        if simulation.chance(faults.error) { return failure() }
        var response = world.server.answer(request)
        // From here on the server has acted.
        if simulation.chance(faults.error) {
            if isRefresh { world.hasLostRefreshAnswers = true }
            response = failure()
        }
        if simulation.chance(faults.loss) {
            if isRefresh { world.hasLostRefreshAnswers = true }
            throw try await lost()
        }
        do {
            try await simulation.sleep(for: simulation.random(.zero...world.plan.delay))
        } catch {
            if isRefresh { world.hasLostRefreshAnswers = true }
            throw error
        }
        return response
    }

    private func lost() async throws -> URLError {
        device.world.count.losses += 1
        guard device.world.simulation.chance(0.5) else { return URLError(.networkConnectionLost) }
        try await device.world.simulation.sleep(for: .seconds(30))
        return URLError(.timedOut)
    }

    private func failure() -> TransportResponse {
        device.world.count.errors += 1
        // A proxy in between may answer 401 too, but not in the API's form.
        let codes = [500, 502, 503, 503, 504, 401]
        let simulation = device.world.simulation
        let status = HTTPResponse.Status(code: codes[simulation.random(0...codes.count - 1)])
        return TransportResponse(
            status: status, headers: status.code == 503 ? [.retryAfter: "\(simulation.random(0...5))"] : [:],
            body: Array("<html>".utf8))
    }
}

/// A slow token store that sometimes fails, before or after it has acted.
final class SimulatedStore: TokenStore, @unchecked Sendable {
    struct Broken: Error {}

    let world: SimulatedWorld
    private(set) var kept: StoredTokens?

    init(_ world: SimulatedWorld, _ kept: StoredTokens?) { (self.world, self.kept) = (world, kept) }

    func load() async throws -> StoredTokens? {
        await takeTime()
        let loaded = kept
        await takeTime()
        try mayFail()
        return loaded
    }

    func save(_ tokens: StoredTokens?) async throws {
        do {
            await takeTime()
            try mayFail()
            kept = tokens
            world.simulation.note("store: \(tokens.map { "\($0.accessToken) \($0.refreshToken)" } ?? "nothing")")
            await takeTime()
            try mayFail()
        } catch {
            world.count.storeFailures += 1
            world.hasFailedToSave = true
            world.simulation.note("store: failed to keep \(tokens?.accessToken ?? "nothing")")
            throw error
        }
    }

    private func takeTime() async {
        let longest = world.plan.storeDelay / 2
        guard longest > .zero else { return }
        await world.simulation.pause(for: world.simulation.random(.zero...longest))
    }

    private func mayFail() throws {
        if !world.isCalm, world.simulation.chance(world.plan.storeFailure) { throw Broken() }
    }
}
