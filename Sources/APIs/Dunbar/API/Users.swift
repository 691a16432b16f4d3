import Contract
import Foundation

extension Dunbar {
    static let users: [any Contract.Endpoint.Type] = [GetUser.self, UpdateUser.self, UploadPhoto.self]

    /// A user as others see one.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<User>

        public var id: ID
        public var username: String
        public var displayName: String
        @OrNull public var bio: String?
        /// An absolute URL.
        @PictureURL public var photo: String?
        /// Whether only those see the posts whom the user accepts.
        public var isPrivate: Bool
        public var createdAt: Timestamp

        public init(
            id: ID, username: String, displayName: String, bio: String?, photo: String?, isPrivate: Bool,
            createdAt: Timestamp
        ) {
            self.id = id
            self.username = username
            self.displayName = displayName
            self.bio = bio
            self.photo = photo
            self.isPrivate = isPrivate
            self.createdAt = createdAt
        }
    }

    /// A user as they see themselves.
    public struct Account: Codable, Hashable, Sendable, Identifiable {
        public var id: User.ID
        public var username: String
        public var email: String
        @OrNull public var bio: String?
        /// An absolute URL.
        @PictureURL public var photo: String?
        public var isAdmin: Bool
        public var createdAt: Timestamp
        public var isPrivate: Bool
        public var displayName: String
        /// At the registration: what to do next.
        public var message: String?
        /// Only where one asks who is signed in.
        public var emailVerified: Bool?

        public init(
            id: User.ID, username: String, email: String, bio: String?, photo: String?, isAdmin: Bool,
            createdAt: Timestamp, isPrivate: Bool, displayName: String, message: String? = nil,
            emailVerified: Bool? = nil
        ) {
            self.id = id
            self.username = username
            self.email = email
            self.bio = bio
            self.photo = photo
            self.isAdmin = isAdmin
            self.createdAt = createdAt
            self.isPrivate = isPrivate
            self.displayName = displayName
            self.message = message
            self.emailVerified = emailVerified
        }

        /// As others see this user.
        public var profile: User {
            User(
                id: id, username: username, displayName: displayName, bio: bio, photo: photo, isPrivate: isPrivate,
                createdAt: createdAt)
        }
    }

    /// A user in what they made: a post, a comment, a request.
    public struct UserSummary: Codable, Hashable, Sendable, Identifiable {
        public var id: User.ID
        public var username: String
        public var displayName: String
        /// An absolute URL.
        @PictureURL public var photo: String?

        public init(id: User.ID, username: String, displayName: String, photo: String?) {
            self.id = id
            self.username = username
            self.displayName = displayName
            self.photo = photo
        }
    }

    /// A user who was changed: oneself, or somebody else, by an admin.
    public enum UpdatedUser: Codable, Hashable, Sendable {
        case own(Account)
        case other(User)

        /// As others see the user.
        public var profile: User {
            switch self {
            case .own(let account): account.profile
            case .other(let user): user
            }
        }

        private enum CodingKeys: String, CodingKey { case user, email }

        /// Takes a wrapped user, too, as older servers answer.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if container.contains(.user) {
                self = try container.decode(UpdatedUser.self, forKey: .user)
            } else if container.contains(.email) {
                self = .own(try Account(from: decoder))
            } else {
                self = .other(try User(from: decoder))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .own(let account): try account.encode(to: encoder)
            case .other(let user): try user.encode(to: encoder)
            }
        }
    }

    /// `GET /users/{id}`: anybody's profile, to anybody. 404 "User not found".
    public struct GetUser: OpenEndpoint {
        public static let route = Route.get("/users/{id}")
        public typealias Output = WithRelationship<User>

        public var id: User.ID

        public init(id: User.ID) { self.id = id }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }

    /// `PATCH /users/{id}`: changes one's own profile, or anybody's as an admin. What is nil stays.
    ///
    /// 404 "User not found", 403 "Not authorized to update this profile", 400 "No changes detected".
    public struct UpdateUser: Endpoint {
        public static let route = Route.patch("/users/{id}", mayRepeat: true)
        public static let fieldsComeLast = true
        public typealias Output = UpdatedUser

        public var id: User.ID
        /// 1 to 100 characters after trimming.
        public var displayName: String?
        /// At most 500 characters after trimming; blank means none.
        public var bio: String?
        public var isPrivate: Bool?
        /// Whether `isPrivate` was sent, and is neither true nor false.
        private var isPrivacyUnreadable = false

        public init(id: User.ID, displayName: String? = nil, bio: String? = nil, isPrivate: Bool? = nil) {
            self.id = id
            self.displayName = displayName
            self.bio = bio
            self.isPrivate = isPrivate
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(User.ID.self, forKey: .id)
            displayName = try container.decodeIfPresent(String.self, forKey: .displayName) ?? decoder.otherName()
            bio = try container.decodeIfPresent(String.self, forKey: .bio)
            // Null is a value here: no bio.
            if bio == nil, container.contains(.bio), try container.decodeNil(forKey: .bio) { bio = "" }
            isPrivate = try container.decodeIfPresent(Bool.self, forKey: .isPrivate)
            isPrivacyUnreadable = isPrivate == nil && container.contains(.isPrivate)
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }

        public func validate() throws(Problem) {
            try Dunbar.requireNoNUL(displayName, bio)
            guard displayName != nil || bio != nil || isPrivate != nil || isPrivacyUnreadable else {
                throw Problem(.badRequest, "No changes detected")
            }
            if let displayName { try Dunbar.validate(displayName: displayName) }
            if let bio, bio.trimmed.length > 500 {
                throw Problem(.badRequest, "Bio must be at most 500 characters")
            }
            if isPrivacyUnreadable { throw Problem(.badRequest, "isPrivate must be true or false") }
        }

        enum CodingKeys: String, CodingKey { case id, displayName, bio, isPrivate }
    }

    /// `POST /users/{id}/photo` (multipart/form-data, field `photo`): up to 50 MiB of JPEG, PNG, GIF, WebP or HEIC, which
    /// become a JPEG of at most 1024 by 1024 pixels without metadata.
    ///
    /// 404 and 403 as ``UpdateUser``; 400 "No photo uploaded", 400 "Only image files are allowed", 413.
    public struct UploadPhoto: Endpoint {
        public static let route = Route.post(
            "/users/{id}/photo",
            in: .multipart(
                UploadRules(
                    field: "photo", maximumSize: Dunbar.maximumFileSize, missing: nil, tooLarge: Dunbar.fileTooLarge)),
            idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = UpdatedUser

        public var id: User.ID
        /// There is one, or the request is refused.
        public var photo: Upload?

        public init(id: User.ID, photo: Upload) {
            self.id = id
            self.photo = photo
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }

        public func validate() throws(Problem) {
            guard photo != nil else { throw Problem(.badRequest, "No photo uploaded") }
        }
    }

    /// In bytes.
    static let maximumFileSize: Int64 = 52_428_800
    static let fileTooLarge = "File too large (max 50 MB)"
}
