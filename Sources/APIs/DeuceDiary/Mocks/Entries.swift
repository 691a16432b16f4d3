import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples

extension DeuceDiary.DeuceEntry {
    /// The example: John's entry in "Throne Room".
    public static let example: Self = contractExample(DeuceDiaryExamples.entry)
}

extension WithUser<DeuceDiary.DeuceEntry> {
    /// The example: John's entry in "Throne Room", as its feed shows it.
    public static let example = Self(.example, by: .example)
}

extension DeuceDiaryMock {
    func entries() {
        server.example(of: DeuceDiary.LogDeuce.self) { [memory] request in
            if let closed = request.groups.first(where: { $0 != DeuceDiary.Group.example.id }) {
                throw Problem(.forbidden, "Not authorized for group \(closed)")
            }
            return memory.use { memory in
                var entry = memory.next(request.thoughts ?? "", at: request.location, from: .example)
                entry.value.loggedAt = request.loggedAt ?? entry.createdAt
                memory.add(entry)
                return .init(entries: [entry.value])
            }
        }
        server.example(of: DeuceDiary.ListDeuces.self) { [memory] request in
            if let group = request.group { try Self.requireGroup(group) }
            let limit = min(request.limit ?? DeuceDiary.ListDeuces.usual, DeuceDiary.ListDeuces.maximum)
            let entries = try memory.use { try $0.page(before: request.before, limit: limit) }
            return entries.map { .init($0, reactions: $0.id == DeuceDiary.DeuceEntry.example.id ? [.example] : []) }
        }
        server.example(of: DeuceDiary.DeleteDeuce.self) { [memory] request in
            try memory.use { try $0.remove(request.entry) }
            return .init(message: "Entry deleted")
        }
    }
}

extension DeuceDiaryMemory {
    /// Returns a page of the entries, newest first.
    func page(before: DeuceDiary.DeuceEntry.ID?, limit: Int) throws -> [DeuceDiary.FeedEntry] {
        guard let before else { return Array(entries.prefix(limit)) }
        guard let index = entries.firstIndex(where: { $0.id == before }) else {
            throw Problem(.badRequest, "Invalid cursor")
        }
        return Array(entries[(index + 1)...].prefix(limit))
    }

    /// Removes an entry of John's.
    mutating func remove(_ id: DeuceDiary.DeuceEntry.ID) throws {
        guard let index = entries.firstIndex(where: { $0.id == id }) else {
            throw Problem(.notFound, "Entry not found")
        }
        guard entries[index].userId == DeuceDiary.User.example.id else {
            throw Problem(.forbidden, "Not authorized to delete this entry")
        }
        entries.remove(at: index)
    }

    /// Returns an entry that is a minute later than the newest.
    mutating func next(
        _ thoughts: String, at location: String, from author: DeuceDiary.User
    ) -> DeuceDiary.FeedEntry {
        let time = DeuceDiary.DeuceEntry.example.createdAt.milliseconds + Int64(count + 1) * 60_000
        count += 1
        let number = String(count, radix: 16)
        let id = "a1b2c3d4-e5f6-4a7b-8c9d-" + String(repeating: "0", count: 12 - number.count) + number
        let entry = DeuceDiary.DeuceEntry(
            id: .init(id), userId: author.id, groupId: DeuceDiary.Group.example.id, location: location,
            thoughts: thoughts, loggedAt: .init(milliseconds: time), createdAt: .init(milliseconds: time))
        return .init(entry, by: author)
    }

    /// Adds an entry to the group, and sends it to the sockets that are subscribed to it.
    mutating func add(_ entry: DeuceDiary.FeedEntry) {
        entries.insert(entry, at: 0)
        for socket in sockets where socket.isJoined { socket.push(DeuceDiary.Notice(entry)) }
    }
}
