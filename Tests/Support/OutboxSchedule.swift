import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A device with an outbox, on a network that loses requests and answers, before a server that fails now and then, whose
/// process dies between any two steps on its disk. After any schedule the server has each item once.
///
/// The server is a real one; only what the device sees of it is spoiled.
public final class OutboxSchedule<Content: Codable & Sendable>: Sendable {
    /// Opens the outbox in a new process of the device, over its network.
    public typealias Open = @Sendable (DeviceProcess) async throws -> DurableOutbox<Content>
    /// Writes an item.
    public typealias Write = @Sendable (DurableOutbox<Content>, _ number: Int) async throws -> Void

    /// The items that were written, by number.
    public struct Written: Sendable {
        /// The times of the items that the outbox has taken.
        public var taken: [Int: Date] = [:]
        /// The items during whose writing the process died: the outbox may have them.
        public var uncertain: Set<Int> = []
        /// What must not happen.
        public var violations: [String] = []
    }

    private let clock: TestClock
    private let network: DeviceNetwork
    private let generator: NIOLockedValueBox<SeededGenerator>

    private let pause: Int

    /// - Parameters:
    ///   - transport: The way to the real server.
    ///   - clock: The clock of the server and of the device.
    ///   - pause: The longest time without a step, in seconds. There are at most 30.
    public init(seed: UInt64, over transport: any Transport, clock: TestClock, pause: Int = 5000) {
        self.clock = clock
        self.pause = pause
        generator = NIOLockedValueBox(SeededGenerator(seed: seed))
        network = DeviceNetwork(transport, seed: seed &+ 1_000_000, clock: clock)
    }

    private func random(_ range: ClosedRange<Int>) -> Int {
        generator.withLockedValue { .random(in: range, using: &$0) }
    }

    /// Runs a schedule of some steps, and waits until the outbox is empty.
    ///
    /// - Parameter items: The largest number of items.
    public func run(items: Int, _ open: Open, _ write: Write) async throws -> Written {
        var written = Written()
        var (process, outbox): (DeviceProcess?, DurableOutbox<Content>?)
        func launch() async {
            let new = DeviceProcess(network)
            process = new
            do {
                outbox = try await open(new)
            } catch {
                if !new.isDead { written.violations.append("The outbox does not open: \(error)") }
                outbox = nil
            }
        }
        func die() async {
            process?.die()
            await outbox?.close()
            (process, outbox) = (nil, nil)
        }
        await launch()
        var count = 0
        for _ in 0..<random(10...30) {
            if process?.isDead ?? true {
                await die()
                await launch()
            }
            switch random(0...9) {
            case 0...3 where count < items:
                guard let outbox, let process else { break }
                count += 1
                let time = clock.date
                do {
                    try await write(outbox, count)
                    written.taken[count] = time
                } catch {
                    written.uncertain.insert(count)
                    if !process.isDead { written.violations.append("Item \(count) is not taken: \(error)") }
                }
            case 4: network.isOnline.toggle()
            case 5: await die()
            case 6: process?.die(after: random(0...12))
            case 7:
                // Two days at most in all: that is how long a server takes an item's own time.
                clock.advance(by: .seconds(random(0...pause)))
            default:
                // The outbox gets a turn.
                for _ in 0..<random(1...30) { try await Task.sleep(for: .milliseconds(1)) }
            }
        }
        network.isCalm = true
        network.isOnline = true
        await die()
        await launch()
        if let outbox { try await outbox.becomeEmpty() }
        for item in await outbox?.items ?? [] { written.violations.append("\(item)") }
        await die()
        return written
    }

    /// Returns the seeds of schedules: a sample, or with `CONCORD_TORTURE=1` a thousand. `CONCORD_SCHEDULES=10000` runs more;
    /// `CONCORD_SEED=17` runs that one alone.
    public static var seeds: Range<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["CONCORD_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
        return 0..<(environment["CONCORD_SCHEDULES"].flatMap(UInt64.init) ?? (Torture.isOn ? 1000 : 50))
    }
}

extension DurableOutbox {
    /// Returns when nothing waits any more: all is sent or has failed.
    public func becomeEmpty() async throws {
        let changes = changes
        func isEmpty() -> Bool {
            items.allSatisfy { item in
                if case .failed = item.state { true } else { false }
            }
        }
        if isEmpty() { return }
        for await _ in changes where isEmpty() { return }
        throw CancellationError()
    }
}

/// The network of a device, which spoils what goes over it.
public final class DeviceNetwork: Sendable {
    private struct State {
        var isOnline = true
        var isCalm = false
        var generator: SeededGenerator
    }

    fileprivate enum Spoiling {
        case nothing, lostRequest, lostAnswer
        /// An answer that the server did not give.
        case refused(Int)
    }

    fileprivate let transport: any Transport
    private let clock: TestClock
    private let state: NIOLockedValueBox<State>

    init(_ transport: any Transport, seed: UInt64, clock: TestClock) {
        self.transport = transport
        self.clock = clock
        state = NIOLockedValueBox(State(generator: SeededGenerator(seed: seed)))
    }

    public var isOnline: Bool {
        get { state.withLockedValue(\.isOnline) }
        set { state.withLockedValue { $0.isOnline = newValue } }
    }
    /// Whether nothing is spoiled.
    var isCalm: Bool {
        get { state.withLockedValue(\.isCalm) }
        set { state.withLockedValue { $0.isCalm = newValue } }
    }

    fileprivate func spoiling() -> Spoiling {
        state.withLockedValue { state in
            guard !state.isCalm else { return .nothing }
            return switch Int.random(in: 0...9, using: &state.generator) {
            case 0, 1: .lostRequest
            case 2, 3: .lostAnswer
            case 4: .refused([429, 500, 502, 503].randomElement(using: &state.generator) ?? 500)
            default: .nothing
            }
        }
    }

    /// Waits shortly. Once all is calm the clock moves on instead, for what a server wants to be waited for.
    fileprivate func pause(_ time: Duration) async throws {
        if isCalm { clock.advance(by: time) }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// A process of a device. Once it is dead it neither sends nor writes.
public final class DeviceProcess: Transport {
    private struct Died: Error {}
    private struct State {
        var isDead = false
        /// The steps on the disk that are left; nil while it is not about to die.
        var stepsLeft: Int?
    }

    private let network: DeviceNetwork
    private let state = NIOLockedValueBox(State())

    init(_ network: DeviceNetwork) { self.network = network }

    public var isDead: Bool { state.withLockedValue(\.isDead) }
    func die() { state.withLockedValue { $0.isDead = true } }
    /// Has the process die after some more steps on the disk.
    func die(after steps: Int) { state.withLockedValue { $0.stepsLeft = steps } }

    /// The settings of an outbox in this process.
    public func adapt<Content>(_ settings: OutboxSettings<Content>, clock: TestClock) -> OutboxSettings<Content> {
        var settings = settings
        settings.now = { clock.date }
        settings.step = { [self] in
            try state.withLockedValue { state in
                if let left = state.stepsLeft {
                    state.stepsLeft = left - 1
                    if left <= 0 { state.isDead = true }
                }
                if state.isDead { throw Died() }
            }
        }
        return settings
    }

    /// The times between two attempts of an outbox in this process.
    public var pacing: LiveConnection.Pacing { .init(sleep: { [network] in try await network.pause($0) }) }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        guard !isDead, network.isOnline else { throw URLError(.notConnectedToInternet) }
        // How sessions outlive lost answers is tested elsewhere.
        let isOfSession = request.url.path.contains("/auth/") || request.url.path.hasSuffix("/storage/health")
        let spoiling = isOfSession ? .nothing : network.spoiling()
        switch spoiling {
        case .lostRequest: throw URLError(.networkConnectionLost)
        case .refused(let status):
            return TransportResponse(status: .init(code: status), headers: status == 429 ? [.retryAfter: "1"] : [:])
        case .nothing, .lostAnswer: break
        }
        let response = try await network.transport.send(request, progress: progress)
        if case .lostAnswer = spoiling { throw URLError(.networkConnectionLost) }
        guard isOfSession || (!isDead && network.isOnline) else { throw URLError(.networkConnectionLost) }
        return response
    }
}
