import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiary.Reaction {
    /// The example: John's reaction to his own entry.
    public static let example: Self = contractExample(
        """
        {
          "id": 1,
          "entryId": "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d",
          "userId": "user_abc123",
          "emoji": "💩",
          "createdAt": "2025-06-10T09:00:00.000Z"
        }
        """)
}

extension DeuceDiaryMock {
    func reactions() {
        server.example(of: DeuceDiary.AddReaction.self) { [memory] request in
            try Self.requireEntry(request.entry, memory.use { $0.entries })
            var reaction = DeuceDiary.Reaction.example
            (reaction.entryId, reaction.emoji) = (request.entry, request.emoji)
            return reaction
        }
        server.example(of: DeuceDiary.RemoveReaction.self) { _ in .init(message: "Reaction removed") }
        server.example(of: DeuceDiary.ListReactions.self) { [memory] request in
            try Self.requireEntry(request.entry, memory.use { $0.entries })
            if let after = request.after {
                guard after == DeuceDiary.Reaction.example.id else { throw Problem(.badRequest, "Invalid cursor") }
                return []
            }
            return request.entry == DeuceDiary.DeuceEntry.example.id ? [.init(.example, by: .example)] : []
        }
    }

    private static func requireEntry(
        _ entry: DeuceDiary.DeuceEntry.ID, _ entries: [DeuceDiary.FeedEntry]
    ) throws {
        guard entries.contains(where: { $0.id == entry }) else { throw Problem(.notFound, "Entry not found") }
    }
}
