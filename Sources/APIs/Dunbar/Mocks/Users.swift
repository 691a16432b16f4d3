import Contract
import ContractMocks
import DunbarAPI
import DunbarExamples

extension Dunbar.User {
    /// The example: John, as others see him.
    public static let example: Self = contractExample(DunbarExamples.user)

    /// A second example: Sarah, who asks to follow John.
    public static let sarah = Self(of: .sarah)
    /// A third example: Alex, whom John asks.
    public static let alex = Self(of: .alex)

    private init(of user: Dunbar.UserSummary) {
        self.init(
            id: user.id, username: user.username, displayName: user.displayName, bio: nil, photo: user.photo,
            isPrivate: true, createdAt: Self.example.createdAt)
    }
}

extension Dunbar.UserSummary {
    /// The example: John.
    public static let example: Self = contractExample(DunbarExamples.john)

    /// A second example: Sarah.
    public static let sarah: Self = contractExample(DunbarExamples.sarah)

    /// A third example: Alex.
    public static let alex: Self = contractExample(DunbarExamples.alex)
}

extension DunbarMock {
    /// All users of the mock.
    static let people: [Dunbar.User] = [.example, .sarah, .alex]

    static func requireUser(_ id: Dunbar.User.ID) throws -> Dunbar.User {
        guard let user = people.first(where: { $0.id == id }) else { throw Problem(.notFound, "User not found") }
        return user
    }

    static func requireSelf(_ id: Dunbar.User.ID, _ refusal: String) throws {
        guard id == Dunbar.User.example.id else { throw Problem(.forbidden, refusal) }
    }

    func users() {
        server.example(of: Dunbar.GetUser.self) { request in
            let user = try Self.requireUser(request.id)
            return WithRelationship(user, isPending: user == .alex)
        }
        server.example(of: Dunbar.UpdateUser.self) { request in
            _ = try Self.requireUser(request.id)
            try Self.requireSelf(request.id, "Not authorized to update this profile")
            var account = Dunbar.Account.example
            if let name = request.displayName { account.displayName = name.trimmed }
            if let bio = request.bio?.trimmed { account.bio = bio.isEmpty ? nil : bio }
            if let isPrivate = request.isPrivate { account.isPrivate = isPrivate }
            return .own(account)
        }
        server.example(of: Dunbar.UploadPhoto.self) { request in
            _ = try Self.requireUser(request.id)
            try Self.requireSelf(request.id, "Not authorized to update this profile")
            return .own(.example)
        }
        server.example(of: Dunbar.SearchUsers.self) { request in
            let text = request.query.trimmed.lowercased()
            return Self.people.filter { user in
                !text.isEmpty && [user.username, user.displayName].contains { $0.lowercased().contains(text) }
            }.sorted { $0.username < $1.username }.map { user in
                guard request.include?.contains(.relationship) == true else { return user }
                var user = user
                (user.isFollowing, user.isPending) = (false, user == .alex)
                return user
            }
        }
    }
}
