import Contract
import Foundation

extension Dunbar {
    static let users = Section("Users", [GetUser.self, UpdateUser.self, UploadPhoto.self])

    /// A user as others see them.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<User>

        /// The user's id.
        public var id: ID
        /// The username.
        public var username: String
        /// The display name.
        public var displayName: String
        /// The user's text about themselves; nil when there is none.
        @OrNull public var bio: String?
        /// The absolute URL of the photo; nil when there is none.
        @PictureURL public var photo: String?
        /// Whether the user's posts are visible only to followers whom the user has accepted.
        public var isPrivate: Bool
        /// The time at which the account was created.
        public var createdAt: Timestamp
        /// Whether the caller follows the user; nil unless a list was asked for it (``Inclusions/relationship``). An
        /// addition to the contract.
        public var isFollowing: Bool?
        /// Whether the caller has asked to follow the user and has not been answered; nil unless a list was asked for it
        /// (``Inclusions/relationship``). It excludes ``isFollowing``. An addition to the contract.
        public var isPending: Bool?
        private init(derived: Never, without isFollowing: Never, without isPending: Never) { switch derived {} }
    }

    /// The caller's own account.
    public struct Account: Codable, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: User.ID
        /// The username.
        public var username: String
        /// The e-mail address, which no other user sees.
        public var email: String
        /// The user's text about themselves; nil when there is none.
        @OrNull public var bio: String?
        /// The absolute URL of the photo; nil when there is none.
        @PictureURL public var photo: String?
        /// Whether the user is an admin, who may change and delete what others made.
        public var isAdmin: Bool
        /// The time at which the account was created.
        public var createdAt: Timestamp
        /// Whether posts are visible only to followers whom the user has accepted.
        public var isPrivate: Bool
        /// The display name.
        public var displayName: String
        /// The next step after a registration; nil in other answers.
        public var message: String? = nil
        /// Whether the address is verified; nil except in the answers about the signed-in user.
        public var emailVerified: Bool? = nil
        private init(derived: Never) { switch derived {} }

        /// The same user as others see them.
        public var profile: User {
            User(
                id: id, username: username, displayName: displayName, bio: bio, photo: photo, isPrivate: isPrivate,
                createdAt: createdAt)
        }
    }

    /// A user as part of something that they made: a post, a comment, a request.
    public struct UserSummary: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        /// The user's id.
        public var id: User.ID
        /// The username.
        public var username: String
        /// The display name.
        public var displayName: String
        /// The absolute URL of the photo; nil when there is none.
        @PictureURL public var photo: String?
        private init(derived: Never) { switch derived {} }
    }

    /// A changed user: the caller, or another user when the caller is an admin.
    public enum UpdatedUser: Codable, Hashable, Sendable {
        case own(Account)
        case other(User)

        /// The user as others see them.
        public var profile: User {
            switch self {
            case .own(let account): account.profile
            case .other(let user): user
            }
        }

        private enum CodingKeys: String, CodingKey { case user, email }

        /// Also decodes a user inside another object, as older servers answer.
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

    /// `GET /users/{id}`: returns any user's profile. It needs no session. Throws 404 "User not found".
    public struct GetUser: OpenEndpoint {
        public static let route = Route.get("/users/{id}")
        public typealias Output = WithRelationship<User>

        /// The user.
        public var id: User.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }

    /// `PATCH /users/{id}`: changes the caller's own profile, or any profile if the caller is an admin. Fields that are
    /// nil stay unchanged.
    ///
    /// Throws 404 "User not found", 403 "Not authorized to update this profile", and 400 "No changes detected".
    public struct UpdateUser: Endpoint {
        public static let route = Route.patch("/users/{id}", mayRepeat: true)
        public static let fieldsComeLast = true
        public typealias Output = UpdatedUser

        /// The user.
        public var id: User.ID
        /// The display name: 1 to 100 characters after trimming.
        public var displayName: String? = nil
        /// The user's text about themselves: at most 500 characters after trimming; a blank one removes it.
        public var bio: String? = nil
        /// Whether posts are visible only to followers whom the user has accepted.
        public var isPrivate: Bool? = nil
        /// Whether `isPrivate` was sent with a value that is neither true nor false.
        private var isPrivacyUnreadable = false
        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(User.ID.self, forKey: .id)
            displayName = try container.decodeIfPresent(String.self, forKey: .displayName) ?? decoder.otherName()
            bio = try container.decodeIfPresent(String.self, forKey: .bio)
            // Null is a value here: it removes the text.
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
    }

    /// `POST /users/{id}/photo` (multipart/form-data, field `photo`): uploads up to 50 MiB of JPEG, PNG, GIF, WebP or
    /// HEIC, which become a JPEG of at most 1024 by 1024 pixels without metadata.
    ///
    /// Throws 404 and 403 as ``UpdateUser`` does, 400 "No photo uploaded", 400 "Only image files are allowed", 400 "Image is damaged or
    /// incomplete", and 413.
    public struct UploadPhoto: Endpoint {
        public static let route = Route.post(
            "/users/{id}/photo",
            in: .multipart(
                UploadRules(
                    field: "photo", maximumSize: Dunbar.maximumFileSize, missing: nil, tooLarge: Dunbar.fileTooLarge)),
            idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = UpdatedUser

        /// The user.
        public var id: User.ID
        /// The photo. The request is refused without one.
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

    /// The maximum size of a file in bytes.
    static let maximumFileSize: Int64 = 52_428_800
    static let fileTooLarge = "File too large (max 50 MB)"
}
