import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import MessengerClient
import Testbed

@testable import MessengerStore

/// The dimensions of a schedule.
struct SchedulePlan: CustomStringConvertible {
    let pageSize: Int
    let catchUp: Int
    let delay: ClosedRange<Duration>
    let loss: Double
    let keptDeletions: Int
    let resent: Int
    let rooms: Int
    let steps: Int
    let isLong: Bool

    init(_ simulation: Simulation) {
        pageSize = simulation.random(1...6)
        catchUp = simulation.random(2...8)
        delay = .zero ... .milliseconds([1, 50, 400, 2000][simulation.random(0...3)])
        loss = [0, 0.02, 0.1, 0.25][simulation.random(0...3)]
        keptDeletions = [1, 4, 100][simulation.random(0...2)]
        resent = [0, 3, 1000][simulation.random(0...2)]
        rooms = simulation.random(1...3)
        steps = simulation.random(8...40)
        isLong = simulation.chance(0.1)
    }

    var description: String {
        "pages of \(pageSize), catches up \(catchUp), delay \(delay), loss \(loss), keeps \(keptDeletions), "
            + "resends \(resent), \(rooms) rooms, \(steps) steps\(isLong ? ", days pass" : "")"
    }
}

/// What happened in schedules.
struct ScheduleCounts {
    var sends = 0
    var failed = 0
    var discarded = 0
    var edits = 0
    var deletions = 0
    var refusedChanges = 0
    var deaths = 0
    var midway = 0
    var outages = 0
    var messages = 0
    var days = 0

    static func += (left: inout ScheduleCounts, right: ScheduleCounts) {
        for path in all { left[keyPath: path] += right[keyPath: path] }
    }

    nonisolated(unsafe) static let all: [WritableKeyPath<ScheduleCounts, Int>] = [
        \.sends, \.failed, \.discarded, \.edits, \.deletions, \.refusedChanges, \.deaths, \.midway, \.outages,
        \.messages, \.days,
    ]
}

/// A schedule: two devices of Alice and one other user who send, edit and delete, on networks that come and go, with
/// processes that die. At its end both devices must show what the server has.
final class Schedule: @unchecked Sendable {
    static let alice: Int64 = 1
    static let bob: Int64 = 2

    let simulation: Simulation
    let plan: SchedulePlan
    let server: ModelServer
    private(set) var devices: [Device] = []
    private(set) var violations: [String] = []
    private(set) var count = ScheduleCounts()
    /// What Alice has written, and on which device.
    private var written: [String: Device] = [:]
    private var discarded: Set<String> = []
    private var texts = 0

    init(seed: UInt64, isTraced: Bool = false) {
        simulation = Simulation(seed: seed, isTraced: isTraced)
        plan = SchedulePlan(simulation)
        server = ModelServer(simulation, keptDeletions: plan.keptDeletions, resent: plan.resent)
        simulation.note("\(plan)")
    }

    private func violate(_ text: String) {
        violations.append(text)
        simulation.note("WRONG: \(text)")
    }

    func run() {
        let folder = Self.fast.appendingPathComponent("schedule-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        devices = ["phone", "pad"].map {
            Device($0, plan, server, user: Self.alice, folder: folder.appendingPathComponent($0))
        }
        do {
            try simulation.run { await self.live() }
        } catch {
            violate("\(error)")
        }
    }

    /// A folder in memory where there is one: thousands of databases are made.
    private static let fast: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
    }()

    private func live() async {
        for _ in 0..<plan.rooms { newRoom() }
        for device in devices { launch(device) }
        for _ in 0..<plan.steps {
            await simulation.pause(for: pauses[simulation.random(0...pauses.count - 1)])
            await step()
        }
        await settle()
        for device in devices { device.die() }
    }

    private let pauses: [Duration] = [.zero, .zero, .milliseconds(20), .milliseconds(300), .seconds(2), .seconds(20)]

    private func launch(_ device: Device) {
        do { try device.launch() } catch { violate("\(device.name) does not launch: \(error)") }
    }

    private func newRoom() {
        let room = server.makeRoom([Self.bob, Self.alice])
        for _ in 0..<simulation.random(0...12) { bobSends(to: room) }
    }

    private var someRoom: Int64 { Int64(simulation.random(1...server.rooms.count)) }

    // MARK: Steps

    private func step() async {
        let device = devices[simulation.random(0...1)]
        switch simulation.random(0...99) {
        case 0..<25: for _ in 0..<[1, 1, 2, 15][simulation.random(0...3)] { bobSends(to: someRoom) }
        case 25..<35: bobChanges()
        case 35..<55: await send(device)
        case 55..<63: change(device)
        case 63..<70: await read(device)
        case 70..<75: await look(device)
        case 75..<83:
            count.outages += 1
            if device.isOnline { device.goOffline() } else { device.goOnline() }
        case 83..<88: die(device)
        case 88..<93:
            if device.isDead {
                device.die()
                launch(device)
            } else {
                count.midway += 1
                device.die(after: simulation.random(0...6))
            }
        case 93..<95: newRoom()
        case 95: await discard(device)
        case 96 where plan.isLong:
            count.days += 1
            simulation.note("a day passes")
            await simulation.pause(for: .seconds(25 * 3600))
        default: await simulation.pause(for: .seconds(70))
        }
    }

    private func bobSends(to room: Int64) {
        texts += 1
        count.messages += 1
        simulation.note("bob writes b\(texts) to \(room)")
        _ = request(Messenger.SendMessage(chat: .init(room), content: "b\(texts)"))
    }

    private func bobChanges() {
        let room = someRoom
        guard
            let row = server.rooms[room]!.rows.filter({ $0.sender == Self.bob }).suffix(8).randomElement(by: simulation)
        else { return }
        texts += 1
        if simulation.chance(0.5) {
            simulation.note("bob edits \(row.id)")
            _ = request(Messenger.EditMessage(chat: .init(room), message: .init(row.id), content: "e\(texts)"))
        } else {
            simulation.note("bob deletes \(row.id)")
            _ = request(Messenger.DeleteMessage(chat: .init(room), message: .init(row.id)))
        }
    }

    private func request(_ request: some Messenger.Endpoint) -> TransportResponse {
        let encoded = try! RequestCoding.encode(request)
        var outgoing = TransportRequest(
            method: type(of: request).route.method, url: URL(string: "http://server" + encoded.path)!)
        outgoing.headers[.authorization] = "Bearer bob-\(Self.bob)"
        if case .json(let bytes) = encoded.body { outgoing.body = .bytes(bytes) }
        return server.answer(outgoing)
    }

    private func send(_ device: Device) async {
        guard let engine = device.engine, !device.isDead else { return }
        texts += 1
        let text = "a\(texts)"
        let room = someRoom
        simulation.note("\(device.name) writes \(text) to \(room)")
        do {
            _ = try await engine.enqueue(text, type: .text, file: nil, to: .init(room))
            written[text] = device
            count.sends += 1
        } catch {
            if !device.isDead { violate("\(device.name) cannot write: \(error)") }
        }
    }

    private func change(_ device: Device) {
        guard let engine = device.engine, !device.isDead else { return }
        let room = Messenger.Chat.ID(someRoom)
        let isEdit = simulation.chance(0.5)
        texts += 1
        let text = "c\(texts)"
        // A user goes on while an answer is awaited.
        Task {
            let own = await engine.view(of: room, limit: 8).messages.filter { $0.sender.rawValue == Self.alice }
            guard let message = own.randomElement(by: simulation) else { return }
            simulation.note("\(device.name) \(isEdit ? "edits" : "deletes") \(message.id)")
            do {
                if isEdit {
                    try await engine.edit(message.id, in: room, to: text)
                    count.edits += 1
                } else {
                    try await engine.delete(message.id, in: room)
                    count.deletions += 1
                }
            } catch {
                count.refusedChanges += 1
            }
        }
    }

    private func read(_ device: Device) async {
        guard let engine = device.engine, !device.isDead else { return }
        let room = Messenger.Chat.ID(someRoom)
        guard let newest = await engine.view(of: room, limit: 5).messages.randomElement(by: simulation) else { return }
        simulation.note("\(device.name) has read \(newest.id)")
        await engine.markRead(newest.id, in: room)
    }

    private func look(_ device: Device) async {
        guard let engine = device.engine, !device.isDead else { return }
        let room = Messenger.Chat.ID(someRoom)
        if device.shown.remove(room) != nil { return await engine.hide(room) }
        device.shown.insert(room)
        simulation.note("\(device.name) shows \(room)")
        await engine.show(room)
        let limit = simulation.random(1...20)
        Task { try? await engine.loadOlder(in: room, limit: limit) }
    }

    private func die(_ device: Device) {
        if device.engine != nil {
            device.die()
            count.deaths += 1
        } else {
            launch(device)
        }
    }

    private func discard(_ device: Device) async {
        guard let engine = device.engine, !device.isDead else { return }
        let outgoing = await engine.view(of: .init(someRoom), limit: 1).outgoing
        guard let entry = outgoing.randomElement(by: simulation) else { return }
        if let isGone = try? await engine.discard(entry.id), isGone {
            discarded.insert(entry.content)
            count.discarded += 1
        }
    }

    // MARK: The end

    /// Lets both devices come to rest on a faultless network, and compares them with the server.
    private func settle() async {
        simulation.note("calm")
        for device in devices {
            device.isCalm = true
            if !device.isOnline { device.goOnline() }
            if device.isDead {
                device.die()
                launch(device)
            } else {
                // One that is to die after some transactions does so now.
                device.die(after: .max)
            }
        }
        await simulation.pause(for: .seconds(plan.isLong ? 8000 : 400))
        for device in devices { await compare(device) }
        await compareWritten()
    }

    private func compare(_ device: Device) async {
        guard let engine = device.engine else { return }
        let list = await engine.chats()
        let expected = self.expectedList
        if list.map(\.line) != expected { violate("\(device.name) lists \(list.map(\.line)), not \(expected)") }
        if case .connected = await engine.connection {} else { violate("\(device.name) is not connected") }
        for (room, state) in server.rooms.sorted(by: { $0.key < $1.key }) {
            do {
                try await engine.loadOlder(in: .init(room), limit: 10_000)
            } catch {
                violate("\(device.name) cannot read \(room): \(error)")
            }
            let view = await engine.view(of: .init(room), limit: 10_000)
            let found = view.messages.map { "\($0.id) \($0.content)\($0.editedAt == nil ? "" : " edited")" }
            let rows = state.rows.map { "\($0.id) \($0.content)\($0.editedAt == nil ? "" : " edited")" }
            if found != rows { violate("\(device.name) shows in \(room): \(found), not \(rows)") }
            if view.hasOlder { violate("\(device.name) has a gap in \(room)") }
            if view.messages.contains(where: { $0.followsGap || $0.isChanging }) {
                violate("\(device.name) has a gap or a change in \(room)")
            }
            for entry in view.outgoing {
                if case .failed = entry.state { continue }
                violate("\(device.name) still has \(entry.content) in \(room): \(entry.state)")
            }
        }
    }

    private var expectedList: [String] {
        server.rooms.map { id, room in
            let unread = room.rows.count { $0.sender != Self.alice && $0.id > room.marks[Self.alice] ?? 0 }
            return (room.rows.last?.createdAt ?? room.createdAt, id, room.rows.last?.content, unread)
        }.sorted { ($0.0, $0.1) > ($1.0, $1.1) }.map { "\($0.1) \($0.2 ?? "-") \($0.3)" }
    }

    /// Compares: each message that was written arrived once, unless it is known to have failed or was discarded.
    private func compareWritten() async {
        var failed: Set<String> = []
        for device in devices {
            for room in server.rooms.keys {
                for entry in await device.engine?.view(of: .init(room), limit: 1).outgoing ?? [] {
                    if case .failed(let failure) = entry.state, failure.isUncertain { failed.insert(entry.content) }
                }
            }
        }
        count.failed += failed.count
        for (text, device) in written.sorted(by: { $0.key < $1.key }) {
            let times = server.sent[text] ?? 0
            if times > 1 { violate("\(text) of \(device.name) arrived \(times) times") }
            if times == 0, !failed.contains(text), !discarded.contains(text) {
                violate("\(text) of \(device.name) is lost")
            }
        }
        // Those of one device arrive in a chat in the order in which they were written.
        if !failed.isEmpty { return }
        for (room, state) in server.rooms {
            for device in devices {
                let numbers = state.rows.compactMap { row -> Int? in
                    written[row.content] === device ? Int(row.content.dropFirst()) : nil
                }
                if numbers != numbers.sorted() { violate("\(device.name)'s messages in \(room) come as \(numbers)") }
            }
        }
    }
}

extension StoredChat {
    fileprivate var line: String { "\(id) \(lastMessage ?? "-") \(unreadCount)" }
}

extension Collection where Index == Int {
    fileprivate func randomElement(by simulation: Simulation) -> Element? {
        isEmpty ? nil : self[startIndex + simulation.random(0...count - 1)]
    }
}
