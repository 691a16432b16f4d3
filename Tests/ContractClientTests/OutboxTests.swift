import Contract
import ContractClient
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An outbox keeps what it is given, in order and on the disk, and tells apart what may be sent again.
@Suite(.timeLimit(.minutes(30))) struct OutboxTests {
    private typealias Texts = DurableOutbox<String>

    /// A server of texts, with a script of errors.
    private final class Server: Sendable {
        struct State {
            var received: [String] = []
            var keys: [String] = []
            var errors: [any Error] = []
            /// Texts that are never taken.
            var poison: Set<String> = []
        }

        let state = NIOLockedValueBox(State())

        func receive(_ delivery: OutboxDelivery<String>) throws {
            try state.withLockedValue { state in
                state.keys.append(delivery.key)
                if !state.errors.isEmpty { throw state.errors.removeFirst() }
                if state.poison.contains(delivery.content) { throw Self.error(500) }
                state.received.append(delivery.content)
            }
        }

        static func error(_ status: Int, isFromAPI: Bool = true, retryAfter: Int? = nil) -> APIError {
            APIError(
                status: .init(code: status), message: "No \(status)", isFromAPI: isFromAPI, retryAfter: retryAfter)
        }

        var received: [String] { state.withLockedValue(\.received) }
        var keys: [String] { state.withLockedValue(\.keys) }
    }

    private static let offline = URLError(.notConnectedToInternet)

    private func settings(_ server: Server, clock: TestClock = TestClock()) -> OutboxSettings<String> {
        var settings = OutboxSettings<String>(
            keyLifetime: { _ in .seconds(71 * 3600) }, deliver: { try server.receive($0) })
        settings.now = { clock.date }
        return settings
    }

    /// Waits between two attempts are short, and recorded.
    private func pacing(_ waits: NIOLockedValueBox<[Duration]> = .init([])) -> LiveConnection.Pacing {
        .init(
            sleep: { time in
                waits.withLockedValue { $0.append(time) }
                try await Task.sleep(for: .milliseconds(1))
            }, random: { 1 })
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// Returns the folders of the items.
    private func names(in folder: URL) throws -> [URL] {
        let accounts = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try accounts.flatMap {
            try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }.sorted { $0.path < $1.path }
    }

    /// Waits until an attempt to send has failed.
    private func failure(in changes: AsyncStream<OutboxChange<String>>) async {
        var isTried = false
        for await case .changed(let item) in changes {
            if case .sending = item.state { isTried = true }
            if isTried, item.state == .waiting { return }
        }
    }

    // MARK: Sending

    @Test func itemsAreSentOnceInTheirOrderAndLeaveNothing() async throws {
        try await withFolder { folder in
            let server = Server()
            let outbox = try await Texts.open(of: "anna", in: folder, settings: settings(server), wakes: .none)
            for text in ["a", "b", "c"] { try await outbox.add(text) }
            try await outbox.becomeEmpty()
            #expect(server.received == ["a", "b", "c"])
            #expect(Set(server.keys).count == 3)
            #expect(try names(in: folder) == [])
        }
    }

    @Test func anItemIsThereInTheNextLaunchUnderItsKeyAndWithItsFile() async throws {
        try await withFolder { folder in
            let (server, clock) = (Server(), TestClock())
            server.state.withLockedValue { $0.errors = [URLError(.networkConnectionLost)] }
            let original = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data("picture".utf8).write(to: original)
            let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
            var first: Texts? = try await Texts.open(
                of: "anna", in: folder, settings: settings(server, clock: clock), pacing: held, wakes: .none)
            let changes = try #require(first?.changes)
            let item = try await #require(first).add(
                "a", files: [Upload(fileAt: original, filename: "a.jpg"), Upload(.bytes([1, 2]), filename: "b")])
            try FileManager.default.removeItem(at: original)
            await failure(in: changes)
            await first?.close()
            first = nil
            clock.advance(by: .seconds(3600))
            let files = NIOLockedValueBox<[[UInt8]]>([])
            var settings = settings(server, clock: clock)
            settings.deliver = { delivery in
                let contents = try delivery.files.map { upload -> [UInt8] in
                    guard case .file(let url) = upload.content else { return [] }
                    return [UInt8](try Data(contentsOf: url))
                }
                files.withLockedValue { $0 = contents }
                #expect(delivery.files.map(\.filename) == ["a.jpg", "b"])
                try server.receive(delivery)
            }
            let again = try await Texts.open(of: "anna", in: folder, settings: settings, wakes: .none)
            try await again.becomeEmpty()
            #expect(server.received == ["a"])
            #expect(Set(server.keys).count == 1)
            #expect(files.withLockedValue { $0 } == [Array("picture".utf8), [1, 2]])
            #expect(item.createdAt == clock.date - 3600)
        }
    }

    @Test func whatPassesIsTriedAgainAndARefusalIsKept() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue {
                $0.errors = [
                    Self.offline, Server.error(500), Server.error(503), Server.error(401), Server.error(408),
                    Server.error(403, isFromAPI: false), SignedOut(), Server.error(422),
                ]
            }
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: pacing(), wakes: .none)
            let item = try await outbox.add("a")
            try await outbox.becomeEmpty()
            #expect(server.keys.count == 8)
            #expect(Set(server.keys).count == 1)
            let kept = try #require(await outbox.items.first)
            #expect(kept.id == item.id)
            guard case .failed(let failure) = kept.state else { return #expect(Bool(false), "\(kept.state)") }
            #expect(failure.reason == .refused(status: 422))
            #expect(failure.errorDescription == "No 422")
            await outbox.close()
            // It is failed in the next launch, too, until it is retried.
            let again = try await Texts.open(of: "anna", in: folder, settings: settings(server), wakes: .none)
            #expect(await again.items.map(\.state) == [.failed(failure)])
            try await again.retry(item.id)
            try await again.becomeEmpty()
            #expect(server.received == ["a"])
            #expect(Set(server.keys).count == 2)
        }
    }

    @Test func theWaitsGrowAndTheServersOwnIsKept() async throws {
        try await withFolder { folder in
            let (server, waits) = (Server(), NIOLockedValueBox<[Duration]>([]))
            server.state.withLockedValue {
                $0.errors = [Self.offline, Self.offline, Self.offline, Server.error(429, retryAfter: 77)]
            }
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: pacing(waits), wakes: .none)
            try await outbox.add("a")
            try await outbox.becomeEmpty()
            #expect(waits.withLockedValue { $0 } == [.seconds(1), .seconds(2), .seconds(4), .seconds(77)])
        }
    }

    @Test func anItemThatTheServerFailsOnLetsOthersPass() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.poison = ["bad"] }
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: pacing(), wakes: .none)
            let changes = outbox.changes
            try await outbox.add("bad")
            try await outbox.add("good")
            for await case .changed(let item) in changes where item.state == .sent { break }
            #expect(server.received == ["good"])
            #expect(server.keys.count >= 4)
            server.state.withLockedValue { $0.poison = [] }
            try await outbox.becomeEmpty()
            #expect(server.received == ["good", "bad"])
        }
    }

    @Test func aWakeEndsTheWait() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = [Self.offline] }
            let (stream, wakes) = AsyncStream<Void>.makeStream()
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server),
                pacing: .init(sleep: { _ in try await Task.sleep(for: .seconds(3600)) }),
                wakes: DeviceWakes { stream })
            try await outbox.add("a")
            let waker = Task {
                while !Task.isCancelled {
                    wakes.yield()
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            try await outbox.becomeEmpty()
            waker.cancel()
            #expect(server.received == ["a"])
        }
    }

    // MARK: Keys that are forgotten

    @Test func anItemWhoseAnswerWasLostLongAgoIsUncertain() async throws {
        try await withFolder { folder in
            for (error, isSent) in [(URLError(.networkConnectionLost), false), (Self.offline, true)] {
                let (server, clock) = (Server(), TestClock())
                server.state.withLockedValue { $0.errors = [error] }
                let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
                let outbox = try await Texts.open(
                    of: "anna", in: folder, settings: settings(server, clock: clock), pacing: held, wakes: .none)
                let changes = outbox.changes
                try await outbox.add("a")
                await failure(in: changes)
                await outbox.close()
                clock.advance(by: .seconds(72 * 3600))
                let again = try await Texts.open(
                    of: "anna", in: folder, settings: settings(server, clock: clock), wakes: .none)
                try await again.becomeEmpty()
                // What never left the device is sent, however late.
                #expect(server.received == (isSent ? ["a"] : []))
                if !isSent {
                    let item = try #require(await again.items.first)
                    guard case .failed(let failure) = item.state else { return #expect(Bool(false), "\(item.state)") }
                    #expect(failure.reason == .uncertain)
                    #expect(try await again.discard(item.id))
                }
                await again.close()
            }
        }
    }

    // MARK: The disk

    @Test func damagedItemsAreSetAsideAndReported() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = Array(repeating: Self.offline, count: 100) }
            let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: held, wakes: .none)
            for text in ["a", "b", "c", "d"] { try await outbox.add(text) }
            await outbox.close()
            server.state.withLockedValue { $0.errors = [] }
            let items = try names(in: folder)
            try #require(items.count == 4)
            // The first is cut short, the second has lost its request, of the third only the attempts are damaged.
            let request = items[0].appendingPathComponent("request.json")
            try Data(contentsOf: request).prefix(20).write(to: request)
            try FileManager.default.removeItem(at: items[1].appendingPathComponent("request.json"))
            try Data("{".utf8).write(to: items[2].appendingPathComponent("attempt.json"))
            let again = try await Texts.open(of: "anna", in: folder, settings: settings(server), wakes: .none)
            try await again.becomeEmpty()
            #expect(server.received == ["d"])
            let damage = await again.damage
            #expect(damage.count == 2)
            #expect(damage.allSatisfy { FileManager.default.fileExists(atPath: $0.location.path) })
            let failed = try #require(await again.items.first)
            guard case .failed(let failure) = failed.state else { return #expect(Bool(false), "\(failed.state)") }
            #expect(failed.content == "c" && failure.reason == .uncertain)
        }
    }

    @Test func anItemWithoutItsFileFails() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = [Self.offline] }
            let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: held, wakes: .none)
            let item = try await outbox.add("a", files: [Upload(.bytes([1]), filename: "a")])
            await outbox.close()
            try FileManager.default.removeItem(at: item.files[0].location)
            let again = try await Texts.open(of: "anna", in: folder, settings: settings(server), wakes: .none)
            try await again.becomeEmpty()
            guard case .failed(let failure)? = await again.items.first?.state else { return #expect(Bool(false)) }
            #expect(failure.reason == .fileIsGone)
        }
    }

    @Test func anOutboxHasBounds() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = Array(repeating: Self.offline, count: 10) }
            var settings = settings(server)
            settings.limits = .init(items: 2, bytes: 10_000)
            let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
            let outbox = try await Texts.open(of: "anna", in: folder, settings: settings, pacing: held, wakes: .none)
            let large = Upload(.bytes([UInt8](repeating: 0, count: 10_000)), filename: "a")
            await #expect(throws: OutboxFull(limits: settings.limits)) { try await outbox.add("large", files: [large]) }
            try await outbox.add("a")
            try await outbox.add("b")
            await #expect(throws: OutboxFull(limits: settings.limits)) { try await outbox.add("c") }
            #expect(await outbox.items.map(\.content) == ["a", "b"])
            #expect(try names(in: folder).count == 2)
        }
    }

    @Test func itemsBelongToTheirAccountAndGoWithIt() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = Array(repeating: Self.offline, count: 10) }
            let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
            let anna = try await Texts.open(
                of: "Anna/../x", in: folder, settings: settings(server), pacing: held, wakes: .none)
            let berta = try await Texts.open(
                of: "anna/../x", in: folder, settings: settings(server), pacing: held, wakes: .none)
            try await anna.add("of Anna", files: [Upload(.bytes([1]), filename: "a")])
            try await berta.add("of anna")
            #expect(await anna.items.map(\.content) == ["of Anna"])
            #expect(await berta.items.map(\.content) == ["of anna"])
            try await anna.wipe()
            #expect(await anna.items.isEmpty)
            #expect(try names(in: folder).count == 1)
            let again = try await Texts.open(of: "anna/../x", in: folder, settings: settings(server), wakes: .none)
            #expect(await again.items.map(\.content) == ["of anna"])
        }
    }

    @Test func aDiscardedItemIsGone() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = [Self.offline] }
            let held = LiveConnection.Pacing(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
            let outbox = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: held, wakes: .none)
            let changes = outbox.changes
            let item = try await outbox.add("a")
            await failure(in: changes)
            #expect(try await outbox.discard(item.id))
            #expect(try await outbox.discard(item.id) == false)
            #expect(try names(in: folder) == [])
        }
    }

    @Test func anOutboxThatNobodyHoldsEnds() async throws {
        try await withFolder { folder in
            let server = Server()
            server.state.withLockedValue { $0.errors = Array(repeating: Self.offline, count: 1000) }
            var outbox: Texts? = try await Texts.open(
                of: "anna", in: folder, settings: settings(server), pacing: pacing(), wakes: .none)
            let changes = try #require(outbox?.changes)
            try await #require(outbox).add("a")
            outbox = nil
            // The sequence of changes ends with it.
            for await _ in changes {}
        }
    }
}
