import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples

extension DeuceDiary.Group {
    /// The example: "Throne Room".
    public static let example: Self = contractExample(DeuceDiaryExamples.group)
}

extension DeuceDiary.GroupMember {
    /// The example: John, the admin.
    public static let example = Self(
        id: 1, groupId: DeuceDiary.Group.example.id, userId: DeuceDiary.User.example.id, role: .admin,
        joinedAt: DeuceDiary.Group.example.createdAt, user: .example, personalRecord: .example)

    /// A second example: Jane, who has joined.
    public static let otherExample = Self(
        id: 2, groupId: DeuceDiary.Group.example.id, userId: DeuceDiary.User.otherExample.id, role: .member,
        joinedAt: .init(milliseconds: DeuceDiary.Group.example.createdAt.milliseconds + 60_000), user: .otherExample,
        personalRecord: nil)
}

extension DeuceDiaryMock {
    func groups() {
        server.example(of: DeuceDiary.CreateGroup.self) { request in
            var group = DeuceDiary.Group.example
            (group.name, group.description) = (request.name, request.description)
            return group
        }
        server.example(of: DeuceDiary.ListGroups.self) { [memory] request in
            if let before = request.before {
                guard before == DeuceDiary.Group.example.id else { throw Problem(.badRequest, "Invalid cursor") }
                return []
            }
            let entries = memory.use { $0.entries }
            return [
                .init(
                    .example, memberCount: 2, entryCount: entries.count, lastActivity: entries.first?.createdAt)
            ]
        }
        server.example(of: DeuceDiary.GetGroup.self) { [memory] request in
            try Self.requireGroup(request.group)
            let limit = min(request.limit ?? .max, DeuceDiary.GetGroup.maximum)
            return .init(
                group: .example, members: [.otherExample, .example],
                entries: try memory.use { try $0.page(before: request.before, limit: limit) })
        }
    }
}
