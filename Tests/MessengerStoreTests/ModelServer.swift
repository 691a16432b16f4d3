import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI
import Testbed

/// A small Messenger server in memory, for schedules in simulated time. The scenarios hold the real server to the contract;
/// this one has what a store uses, in the same words.
final class ModelServer: @unchecked Sendable {
    struct Row {
        let id: Int64
        let sender: Int64
        var content: String
        let file: Int64?
        let createdAt: Int64
        var editedAt: Int64?
        var version = 0
    }

    struct Room {
        var members: [Int64]
        let createdAt: Int64
        var rows: [Row] = []
        var version = 0
        var knownFrom = 0
        var deletions: [(version: Int, id: Int64)] = []
        var marks: [Int64: Int64] = [:]
    }

    private struct Kept {
        let at: Int64
        let answer: TransportResponse
    }

    let simulation: Simulation
    /// The number of a chat's last changes whose deletions are remembered.
    let keptDeletions: Int
    /// The number of missed messages that a subscription sends again.
    let resent: Int
    var rooms: [Int64: Room] = [:]
    private var lastMessage: Int64 = 0
    private var lastRoom: Int64 = 0
    private var keys: [String: Kept] = [:]
    private var sockets: [ModelSocket] = []
    /// The number of times that each content was sent.
    private(set) var sent: [String: Int] = [:]

    init(_ simulation: Simulation, keptDeletions: Int, resent: Int) {
        (self.simulation, self.keptDeletions, self.resent) = (simulation, keptDeletions, resent)
    }

    var now: Int64 { 1_771_840_800_000 + Int64(simulation.now / .milliseconds(1)) }
    private var seconds: Int64 { now / 1000 * 1000 }

    func makeRoom(_ members: [Int64]) -> Int64 {
        lastRoom += 1
        rooms[lastRoom] = Room(members: members, createdAt: seconds)
        return lastRoom
    }

    // MARK: Requests

    /// Answers a request, in one step.
    func answer(_ request: TransportRequest) -> TransportResponse {
        let token = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        guard let user = token.flatMap(Self.user) else { return refusal(.unauthorized, "Invalid or expired token") }
        let steps = request.url.path.split(separator: "/").map(String.init)
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let query = Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
        if steps == ["chats"] { return list(of: user, query) }
        guard steps.count > 1, steps[0] == "chats", let chat = Int64(steps[1]), let room = rooms[chat],
            room.members.contains(user)
        else {
            return steps.count == 2
                ? refusal(.notFound, "Chat not found or access denied")
                : refusal(.forbidden, "Not a member of this chat")
        }
        switch (request.method, steps.dropFirst(2).first, steps.count) {
        case (.get, nil, _): return ok(details(chat, room))
        case (.get, "messages", 3): return ok(page(chat, room, query))
        case (.post, "messages", 3): return send(chat, user, request)
        case (.put, "messages", 4): return edit(chat, user, Int64(steps[3])!, request)
        case (.delete, "messages", 4): return delete(chat, user, Int64(steps[3])!)
        case (.post, "messages", 5): return read(chat, user, Int64(steps[3])!)
        case (.get, "receipts", _): return ok(receipts(room))
        case (.get, "changes", _): return ok(changes(room, query))
        default: return refusal(.notFound, "Not found")
        }
    }

    static func user(_ token: String) -> Int64? { Int64(token.split(separator: "-").last ?? "") }

    private func ok(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> TransportResponse {
        TransportResponse(status: status, body: Array((try? JSONEncoder().encode(value)) ?? Data()))
    }

    private func refusal(_ status: HTTPResponse.Status, _ text: String) -> TransportResponse {
        ok(Messenger.Failure(error: text), status)
    }

    private func list(of user: Int64, _ query: [String: String]) -> TransportResponse {
        let all = rooms.filter { $0.value.members.contains(user) }.map { id, room in
            Messenger.ChatSummary(
                id: .init(id), type: .group, name: "Room \(id)",
                updatedAt: .init(milliseconds: room.rows.last?.createdAt ?? room.createdAt),
                lastMessage: room.rows.last?.content,
                unreadCount: room.rows.count { $0.sender != user && $0.id > room.marks[user] ?? 0 })
        }
        return ok(query["before"] == nil ? all.sorted { ($0.updatedAt, $0.id) > ($1.updatedAt, $1.id) } : [])
    }

    private func details(_ chat: Int64, _ room: Room) -> Messenger.Chat {
        Messenger.Chat(
            id: .init(chat), type: .group, name: "Room \(chat)", owner: .init(room.members[0]),
            createdAt: .init(milliseconds: room.createdAt),
            members: room.members.map {
                .init(id: .init($0), username: "user\($0)", displayName: "User \($0)", role: .member)
            })
    }

    private func message(_ row: Row, _ chat: Int64, edited: Bool = false) -> Messenger.Message {
        var message = Messenger.Message(
            id: .init(row.id), chat: .init(chat), sender: .init(row.sender), content: row.content,
            type: .text, file: nil, createdAt: .init(milliseconds: row.createdAt))
        if edited { message.edited = OrNull(wrappedValue: row.editedAt.map { .init(milliseconds: $0) }) }
        return message
    }

    private func page(_ chat: Int64, _ room: Room, _ query: [String: String]) -> [Messenger.Message] {
        let limit = query["limit"].flatMap(Int.init) ?? 50
        var rows = room.rows
        if let after = query["after"].flatMap(Int64.init) {
            rows = Array(rows.filter { $0.id > after }.prefix(limit))
        } else if let before = query["before"].flatMap(Int64.init) {
            rows = rows.filter { $0.id < before }.suffix(limit)
        } else {
            rows = rows.suffix(limit)
        }
        return rows.reversed().map { message($0, chat, edited: query["include"] == "edited") }
    }

    private struct Body: Decodable { let content: String? }

    private func content(_ request: TransportRequest) -> String {
        guard case .bytes(let bytes) = request.body else { return "" }
        return (try? JSONDecoder().decode(Body.self, from: Data(bytes)))?.content ?? ""
    }

    private func send(_ chat: Int64, _ user: Int64, _ request: TransportRequest) -> TransportResponse {
        let key = request.headers[.idempotencyKey].map { "\(user) \($0)" }
        if let kept = key.flatMap({ keys[$0] }), now - kept.at < 24 * 3_600_000 { return kept.answer }
        lastMessage += Int64(simulation.random(1...3))
        let row = Row(
            id: lastMessage, sender: user, content: content(request), file: nil, createdAt: seconds, editedAt: nil)
        sent[row.content, default: 0] += 1
        rooms[chat]!.rows.append(row)
        rooms[chat]!.marks[user] = row.id
        let message = message(row, chat)
        let answer = ok(Messenger.SentMessage(message), .created)
        if let key { keys[key] = Kept(at: now, answer: answer) }
        publish(message, in: chat)
        return answer
    }

    private func index(_ id: Int64, _ chat: Int64, _ user: Int64) -> Result<Int, Refused> {
        guard let index = rooms[chat]!.rows.firstIndex(where: { $0.id == id }) else {
            return .failure(Refused(answer: refusal(.notFound, "Message not found")))
        }
        guard rooms[chat]!.rows[index].sender == user else {
            return .failure(Refused(answer: refusal(.forbidden, "Only the sender can change a message")))
        }
        return .success(index)
    }

    private struct Refused: Error { let answer: TransportResponse }

    private func edit(_ chat: Int64, _ user: Int64, _ id: Int64, _ request: TransportRequest) -> TransportResponse {
        switch index(id, chat, user) {
        case .failure(let refused): return refused.answer
        case .success(let index):
            rooms[chat]!.version += 1
            rooms[chat]!.rows[index].content = content(request)
            rooms[chat]!.rows[index].editedAt = seconds
            rooms[chat]!.rows[index].version = rooms[chat]!.version
            let row = rooms[chat]!.rows[index]
            publish(
                Messenger.MessageEdit(
                    id: .init(id), chat: .init(chat), content: row.content, editedAt: .init(milliseconds: seconds)),
                in: chat)
            return ok(Messenger.SentMessage(message(row, chat, edited: true)))
        }
    }

    private func delete(_ chat: Int64, _ user: Int64, _ id: Int64) -> TransportResponse {
        switch index(id, chat, user) {
        case .failure(let refused): return refused.answer
        case .success(let index):
            rooms[chat]!.version += 1
            rooms[chat]!.rows.remove(at: index)
            rooms[chat]!.deletions.append((rooms[chat]!.version, id))
            let forgotten = rooms[chat]!.version - keptDeletions
            if rooms[chat]!.deletions.contains(where: { $0.version <= forgotten }) {
                rooms[chat]!.deletions.removeAll { $0.version <= forgotten }
                rooms[chat]!.knownFrom = forgotten
            }
            publish(Messenger.MessageDeletion(id: .init(id), chat: .init(chat)), in: chat)
            return TransportResponse(status: .noContent)
        }
    }

    private func read(_ chat: Int64, _ user: Int64, _ id: Int64) -> TransportResponse {
        guard rooms[chat]!.rows.contains(where: { $0.id == id }) else {
            return refusal(.notFound, "Message not found")
        }
        if id > rooms[chat]!.marks[user] ?? 0 {
            rooms[chat]!.marks[user] = id
            publish(
                Messenger.ReadMark(
                    chat: .init(chat), user: .init(user), message: .init(id), readAt: .init(milliseconds: seconds)),
                in: chat)
        }
        return TransportResponse(status: .noContent)
    }

    private func receipts(_ room: Room) -> [Messenger.Receipt] {
        room.marks.sorted { $0.key < $1.key }.map {
            .init(user: .init($0.key), lastRead: .init($0.value), readAt: .init(milliseconds: seconds))
        }
    }

    private func changes(_ room: Room, _ query: [String: String]) -> Messenger.MessageChanges {
        guard let after = query["after"].flatMap(Int.init) else {
            return .init(version: room.version, isComplete: true, changes: [])
        }
        guard after >= room.knownFrom else { return .init(version: room.version, isComplete: false, changes: []) }
        let edits = room.rows.filter { $0.version > after }.map { row in
            (
                row.version,
                Messenger.MessageChange(
                    id: .init(row.id), content: row.content, editedAt: row.editedAt.map { .init(milliseconds: $0) })
            )
        }
        let deletions = room.deletions.filter { $0.version > after }.map {
            ($0.version, Messenger.MessageChange(id: .init($0.id), content: nil, editedAt: nil))
        }
        let found = (edits + deletions).sorted { $0.0 < $1.0 }.prefix(3)
        return .init(
            version: found.count < 3 ? room.version : found.last!.0, isComplete: true, changes: found.map(\.1))
    }

    // MARK: Sockets

    func open(_ socket: ModelSocket) { sockets.append(socket) }

    func close(_ socket: ModelSocket) { sockets.removeAll { $0 === socket } }

    private func publish(_ frame: some Messenger.ServerFrame, in chat: Int64) {
        for socket in sockets where socket.chats.contains(chat) { socket.deliver(frame) }
    }

    func receive(_ text: String, from socket: ModelSocket) {
        guard let frame = try? Messenger.clientFrames.decode(Data(text.utf8)) else { return }
        switch frame {
        case let frame as Messenger.Authenticate:
            socket.user = Self.user(frame.token)
            socket.deliver(Messenger.Authenticated(user: .init(socket.user ?? 0)))
        case let frame as Messenger.Subscribe:
            let chat = frame.chat.rawValue
            guard let room = rooms[chat], room.members.contains(socket.user ?? 0) else {
                return socket.deliver(Messenger.LiveError(message: "Not a member of this chat"))
            }
            if let since = frame.since?.rawValue, since < 0 {
                return socket.deliver(Messenger.LiveError(message: "Invalid since"))
            }
            socket.chats.insert(chat)
            socket.deliver(Messenger.Subscribed(chat: frame.chat))
            guard let since = frame.since?.rawValue else { return }
            let missed = room.rows.filter { $0.id > since }
            guard missed.count <= resent else { return socket.deliver(Messenger.Resync(chat: frame.chat)) }
            for row in missed { socket.deliver(message(row, chat)) }
        case let frame as Messenger.Unsubscribe:
            socket.chats.remove(frame.chat.rawValue)
            socket.deliver(Messenger.Unsubscribed(chat: frame.chat))
        case is Messenger.Ping: socket.deliver(Messenger.Pong())
        default: return
        }
    }
}

/// A socket between a device and the model server. Frames are slow, and come in order.
final class ModelSocket: Socket, @unchecked Sendable {
    private let server: ModelServer
    private let delay: ClosedRange<Duration>
    private let frames: AsyncThrowingStream<(Duration, String), any Error>
    private let incoming: AsyncThrowingStream<(Duration, String), any Error>.Continuation
    private var lastDue = Duration.zero
    private var lastSent = Duration.zero
    private var isOpen = true
    var user: Int64?
    var chats: Set<Int64> = []

    init(_ server: ModelServer, delay: ClosedRange<Duration>) {
        (self.server, self.delay) = (server, delay)
        (frames, incoming) = AsyncThrowingStream<(Duration, String), any Error>.makeStream()
        server.open(self)
    }

    func deliver(_ frame: some Messenger.ServerFrame) {
        guard isOpen, let json = try? frame.json() else { return }
        lastDue = max(lastDue, server.simulation.now + server.simulation.random(delay))
        incoming.yield((lastDue, String(decoding: json, as: UTF8.self)))
    }

    /// Ends the connection without a word.
    func cut() {
        guard isOpen else { return }
        isOpen = false
        server.close(self)
        incoming.finish(throwing: SocketClosed(code: 1006))
    }

    func send(_ text: String) async throws {
        lastSent = max(lastSent + .microseconds(1), server.simulation.now + server.simulation.random(delay))
        try await server.simulation.sleep(for: lastSent - server.simulation.now)
        guard isOpen else { throw SocketClosed(code: 1006) }
        server.receive(text, from: self)
    }

    func receive() async throws -> SocketMessage {
        for try await (due, text) in frames {
            try await server.simulation.sleep(for: due - server.simulation.now)
            // What was on its way when the connection was cut is lost.
            guard isOpen else { throw SocketClosed(code: 1006) }
            return .text(text)
        }
        throw SocketClosed(code: 1006)
    }

    func ping() async throws {}
    func close(code: UInt16, reason: String) async { cut() }
}
