import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.User {
    /// The example: Bob.
    public static let example: Self = contractExample(MessengerExamples.user)
}

extension Messenger.UserSummary {
    /// The example: Alice.
    public static let example: Self = contractExample(MessengerExamples.summary)
}

extension MessengerMock {
    func users() {
        server.example(of: Messenger.GetUser.self) { [memory] request in
            try memory.use { try $0.person(request.id) }
        }
        server.example(of: Messenger.SearchUsers.self) { [memory] request in
            let query = request.query.trimmed.lowercased()
            let (people, blocked) = memory.use { ($0.people, $0.blocked) }
            let found = people.filter { user in
                !blocked.contains(user.id)
                    && [user.username, user.displayName].contains { $0.lowercased().contains(query) }
            }
            return found.map(\.summary)
        }
    }
}

extension MessengerMemory {
    /// Alice as others see her, and Bob.
    var people: [Messenger.User] {
        let alice = Messenger.User(
            id: account.id, username: account.username, displayName: account.displayName, bio: account.bio,
            avatar: account.avatar)
        return [alice, .example]
    }

    func person(_ id: Messenger.User.ID) throws(Problem) -> Messenger.User {
        guard let user = people.first(where: { $0.id == id }) else { throw Problem(.notFound, "User not found") }
        return user
    }
}

extension Messenger.User {
    var summary: Messenger.UserSummary { .init(id: id, username: username, displayName: displayName) }
}
