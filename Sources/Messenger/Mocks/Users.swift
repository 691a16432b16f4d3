import Contract
import ContractMocks
import MessengerAPI

extension Messenger.User {
    /// Bob.
    public static let example: Self = contractExample(
        #"{ "id": 2, "username": "bob", "display_name": "Bob", "bio": null, "avatar_file_id": null }"#)
}

extension Messenger.UserSummary {
    /// Alice.
    public static let example: Self = contractExample(#"{ "id": 1, "username": "alice", "display_name": "Alice" }"#)
}

extension MessengerMock {
    /// Alice as others see her, and Bob.
    private static let people: [Messenger.User] = {
        let me = Messenger.Account.example
        let alice = Messenger.User(
            id: me.id, username: me.username, displayName: me.displayName, bio: me.bio, avatar: me.avatar)
        return [alice, .example]
    }()

    func users() {
        server.example(of: Messenger.GetUser.self) { request in
            guard let user = Self.people.first(where: { $0.id == request.id }) else {
                throw Problem(.notFound, "User not found")
            }
            return user
        }
        server.example(of: Messenger.SearchUsers.self) { request in
            let query = request.query.trimmed.lowercased()
            let found = Self.people.filter { user in
                [user.username, user.displayName].contains { $0.lowercased().contains(query) }
            }
            return found.map { .init(id: $0.id, username: $0.username, displayName: $0.displayName) }
        }
    }
}
