import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import MessengerTestHost
import Testbed
import Testing

@testable import MessengerStore

/// The schedules of `ScheduleTests` in small, on the real server and in real time. The seed draws the steps; what they meet
/// on the way differs each time.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct LiveScheduleTests {
    private static let seeds: Range<UInt64> = {
        if let seed = ProcessInfo.processInfo.environment["CONCORD_SEED"].flatMap(UInt64.init) {
            return seed..<seed + 1
        }
        return 0..<(Torture.isOn ? 200 : 4)
    }()

    /// A device of Alice, whose processes come and go.
    private actor LiveDevice {
        let network: Network
        private let client: MessengerClient
        private let user: Messenger.User.ID
        private let folder: URL
        private(set) var engine: StoreEngine?

        init(_ person: Person, on host: MessengerHost, _ name: String) {
            network = Network(host)
            folder = URL(fileURLWithPath: host.folder).appendingPathComponent(name)
            user = person.id
            let tokens = StoredTokens(
                accessToken: person.token, refreshToken: person.refreshToken, expiresAt: .distantFuture,
                user: person.id.description)
            client = MessengerClient(
                baseURL: host.baseURL, store: MemoryTokenStore(tokens), transport: network, sockets: network,
                retry: .never)
        }

        func launch() async throws -> StoreEngine {
            if let engine { return engine }
            var settings = StoreSettings()
            (settings.pageSize, settings.catchUp) = (5, 6)
            // Waits after failures, and between two looks at the list, are short.
            settings.sleep = { try await Task.sleep(for: $0 / 200) }
            settings.pacing = .init(patience: .seconds(1200), base: .milliseconds(20), cap: .milliseconds(100))
            let engine = try StoreEngine(client: client, user: user, folder: folder, settings: settings)
            self.engine = engine
            await engine.start()
            return engine
        }

        func die() async {
            await engine?.stop()
            engine = nil
        }
    }

    @Test(arguments: seeds) func bothDevicesShowWhatTheServerHas(_ seed: UInt64) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            var random = SeededGenerator(seed: seed)
            let (alice, bob) = try await host.people().pair()
            let chats = [try await alice.group(with: bob), try await bob.directChat(with: alice)]
            let devices = [LiveDevice(alice, on: host, "phone"), LiveDevice(alice, on: host, "pad")]
            var written: [String] = []
            var deleted: Set<String> = []
            for step in 0..<60 {
                host.clock.advance(by: .milliseconds(Int.random(in: 0...700, using: &random)))
                let chat = chats.randomElement(using: &random)!
                let device = devices.randomElement(using: &random)!
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<6:
                    for _ in 0..<Int.random(in: 1...9, using: &random) {
                        try await bob.send(Messenger.SendMessage(chat: chat, content: "b\(step)"))
                    }
                case 6..<8:
                    let page = try await bob.send(Messenger.ListMessages(chat: chat, limit: 9))
                    guard let own = page.filter({ $0.sender == bob.id }).randomElement(using: &random) else { continue }
                    if Bool.random(using: &random) {
                        try await bob.send(Messenger.EditMessage(chat: chat, message: own.id, content: "e\(step)"))
                    } else {
                        try await bob.send(Messenger.DeleteMessage(chat: chat, message: own.id))
                    }
                case 8..<12:
                    written.append("a\(step)")
                    _ = try await device.launch().enqueue("a\(step)", type: .text, file: nil, to: chat)
                case 12:
                    let engine = try await device.launch()
                    let own = await engine.view(of: chat, limit: 9).messages.filter { $0.sender == alice.id }
                    guard let message = own.randomElement(using: &random) else { continue }
                    let isEdit = Bool.random(using: &random)
                    // An error is that of a network that is away, or of a message that is gone.
                    if isEdit {
                        try? await engine.edit(message.id, in: chat, to: "\(message.content)'")
                    } else {
                        deleted.insert(Self.original(of: message.content))
                        try? await engine.delete(message.id, in: chat)
                    }
                case 13:
                    let engine = try await device.launch()
                    let messages = await engine.view(of: chat, limit: 3).messages
                    if let newest = messages.last { await engine.markRead(newest.id, in: chat) }
                case 14: try? await device.launch().loadOlder(in: chat, limit: 20)
                case 15..<18:
                    let states: [Network.State] = [.online, .offline, .losingAnswers]
                    await device.network.set(states.randomElement(using: &random)!)
                default: await device.die()
                }
            }
            for device in devices {
                await device.network.set(.online)
                let engine = try await device.launch()
                await engine.wake()
                for await _ in engine.signal.moments() {
                    _ = engine.signal.take()
                    if try await isUpToDate(engine, with: alice, chats) { break }
                }
            }
            // The second device may have sent something after the first had come to rest.
            for device in devices {
                let engine = try await device.launch()
                for await _ in engine.signal.moments() {
                    if try await isUpToDate(engine, with: alice, chats) { break }
                }
            }
            for chat in chats {
                let contents = try await bob.contents(of: chat).map(Self.original)
                for text in written { #expect(contents.count { $0 == text } <= 1, "\(text) arrived twice") }
            }
            var all: [String] = []
            for chat in chats { all += try await bob.contents(of: chat) }
            let known = Set(all.map(Self.original)).union(deleted)
            #expect(written.filter { !known.contains($0) } == [], "seed \(seed)")
            for device in devices { await device.die() }
        }
    }

    /// Returns the text that was written, of a message that may have been edited.
    private static func original(of content: String) -> String { content.replacingOccurrences(of: "'", with: "") }

    /// Returns whether a device shows what the server has. What it has not read yet, it reads.
    private func isUpToDate(
        _ engine: StoreEngine, with alice: Person, _ chats: [Messenger.Chat.ID]
    ) async throws -> Bool {
        let list = try await alice.send(Messenger.ListChats(include: .unread))
        let shown = await engine.chats()
        guard shown.map(\.id) == list.map(\.id), shown.map(\.unreadCount) == list.map(\.unreadCount),
            shown.map(\.lastMessage) == list.map(\.lastMessage), shown.map(\.updatedAt) == list.map(\.updatedAt)
        else { return false }
        for chat in chats {
            try? await engine.loadOlder(in: chat, limit: 10_000)
            let view = await engine.view(of: chat, limit: 10_000)
            var messages: [Messenger.Message] = []
            var before: Messenger.Message.ID?
            while true {
                let page = try await alice.send(Messenger.ListMessages(chat: chat, before: before, include: .edited))
                guard let last = page.last else { break }
                messages += page
                before = last.id
            }
            guard view.outgoing.isEmpty, !view.hasOlder, view.messages.map(\.message) == messages.reversed() else {
                return false
            }
        }
        return true
    }
}
