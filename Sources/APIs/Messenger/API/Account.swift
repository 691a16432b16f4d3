import Contract

/// One's own account, changed and deleted: additions to the contract.
extension Messenger {
    static let account: [any Contract.Endpoint.Type] = [UpdateMe.self, DeleteMe.self]

    /// `PUT /me`: changes one's profile. Answers the account as ``GetMe`` does.
    ///
    /// A picture is set by an upload of one's own: 404 "File not found" for any other, 400 "avatar must be an image" unless
    /// its type is one. From then on everybody signed in may download it. A former picture is gone, unless a message
    /// holds it.
    public struct UpdateMe: Endpoint {
        public static let route = Route.put("/me")
        public typealias Output = Account
        /// Of ``bio``, in characters.
        public static let maximumBio = 500

        /// 1 to 64 characters after trimming, as in ``Register``; nil leaves it as it is.
        public var displayName: String?
        /// At most 500 characters, taken as they are.
        public var bio: Change<String>
        public var avatar: Change<File.ID>

        public init(
            displayName: String? = nil, bio: Change<String> = .unchanged, avatar: Change<File.ID> = .unchanged
        ) {
            self.displayName = displayName
            self.bio = bio
            self.avatar = avatar
        }

        public func validate() throws(Problem) {
            if let displayName {
                guard 1...64 ~= displayName.trimmed.length else {
                    throw Problem(.badRequest, "display_name must be 1 to 64 characters")
                }
                guard !displayName.containsStrayFormatting else {
                    throw Problem(.badRequest, "display_name contains invalid characters")
                }
            }
            if case .to(let bio) = bio, bio.length > Self.maximumBio {
                throw Problem(.badRequest, "bio must be at most \(Self.maximumBio) characters")
            }
        }

        enum CodingKeys: String, CodingKey {
            case displayName = "display_name"
            case bio
            case avatar = "avatar_file_id"
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            displayName = try container.decodeIfPresent(String.self, forKey: .displayName)
            bio = try Change(of: .bio, in: container)
            avatar = try Change(of: .avatar, in: container)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(displayName, forKey: .displayName)
            try bio.encode(as: .bio, into: &container)
            try avatar.encode(as: .avatar, into: &container)
        }
    }

    /// What becomes of a field that may be empty.
    public enum Change<Value: Sendable>: Sendable {
        /// It stays as it is: its key is not sent.
        case unchanged
        /// From now on there is none: `null`.
        case cleared
        case to(Value)
    }

    /// `DELETE /me`: deletes one's account, for good. Sessions and sockets end, profile and address are gone, and so are
    /// files that no message holds. One leaves every chat; a group of one's own passes to its longest-standing member. What
    /// one has sent stays, from a sender whom nobody finds any more. Name and address are free again.
    ///
    /// 400 "password required", 403 "Invalid password", and 429 after too many of them, as at a ``Login``. Apps call
    /// `MessengerClient.deleteAccount`, which forgets the session too.
    public struct DeleteMe: Endpoint {
        public static let route = Route.delete("/me", .noContent, in: .json)
        public typealias Output = Empty

        public var password: String

        public init(password: String) { self.password = password }

        public func validate() throws(Problem) {
            guard !password.isEmpty else { throw Problem(.badRequest, "password required") }
        }
    }
}

extension Messenger.Change {
    /// Puts it into effect.
    package func apply(to value: inout Value?) {
        switch self {
        case .unchanged: break
        case .cleared: value = nil
        case .to(let new): value = new
        }
    }
}

extension Messenger.Change where Value: WireField & Codable & Equatable {
    /// A value of another type counts as an absent one.
    fileprivate init<Key: CodingKey>(of key: Key, in container: KeyedDecodingContainer<Key>) throws {
        let value = try container.decodeIfPresent(Value.self, forKey: key)
        if let value, value != Value.malformed {
            self = .to(value)
        } else {
            self = try container.contains(key) && container.decodeNil(forKey: key) ? .cleared : .unchanged
        }
    }

    fileprivate func encode<Key: CodingKey>(as key: Key, into container: inout KeyedEncodingContainer<Key>) throws {
        switch self {
        case .unchanged: break
        case .cleared: try container.encodeNil(forKey: key)
        case .to(let value): try container.encode(value, forKey: key)
        }
    }
}

extension Messenger.Change: Equatable where Value: Equatable {}
extension Messenger.Change: Hashable where Value: Hashable {}
