import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples

extension DeuceDiary.Reaction {
    /// The example: John's reaction to his own entry.
    public static let example: Self = contractExample(DeuceDiaryExamples.reaction)
}

extension DeuceDiaryMock {
    func reactions() {
        server.example(of: DeuceDiary.AddReaction.self) { [memory] request in
            try Self.requireEntry(request.entry, memory.use { $0.entries })
            var reaction = DeuceDiary.Reaction.example
            (reaction.entryId, reaction.emoji) = (request.entry, request.emoji)
            return reaction
        }
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
