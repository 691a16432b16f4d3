import Contract
import Foundation

extension DeuceDiary {
    static let users = Section(
        "Users",
        [
            GetUser.self, UpdateUser.self, UploadProfilePicture.self, DeleteUser.self, ExportUser.self,
            GetAbout<DeuceDiary>.self, RequestArchive.self, GetArchive.self,
        ])

    /// A user, as others and the user see it.
    public struct User: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        /// The id that the issuer of the tokens gives the user.
        public typealias ID = TextIdentifier<User>

        /// The user's id.
        public var id: ID
        /// The e-mail address; nil in every user but the caller's own.
        @OrNull public var email: String?
        /// The first name from the issuer's token; nil when it has none.
        @OrNull public var firstName: String?
        /// The last name from the issuer's token; nil when it has none.
        @OrNull public var lastName: String?
        /// The username; nil until the user chooses one with ``UpdateUser``.
        @OrNull public var username: String?
        /// The picture as `/uploads/<name>.jpg`, relative to the base URL: see ``profileImage(relativeTo:)``.
        @OrNull public var profileImageUrl: String?
        /// The number of logs. A log into several groups counts once.
        public var deuceCount: Int
        /// The time at which the account was created.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp
        private init(derived: Never) { switch derived {} }

        /// The username, else the first and last name, else the first name, else "Someone".
        public var displayName: String {
            if let username { return username }
            guard let firstName else { return "Someone" }
            return lastName.map { "\(firstName) \($0)" } ?? firstName
        }

        /// Returns the URL of the picture; nil without one.
        ///
        /// - Parameter baseURL: The API's base URL, which precedes the path. An absolute URL stays as it is.
        public func profileImage(relativeTo baseURL: URL) -> URL? {
            guard let profileImageUrl, let url = URL(string: profileImageUrl) else { return nil }
            return url.scheme == nil ? baseURL.appendingPathComponent(profileImageUrl) : url
        }
    }

    /// `GET /api/auth/user`: returns the caller's own account.
    ///
    /// It updates the user's name and address from the token, and recreates the group "Solo Deuces" for a user who is
    /// in no group.
    public struct GetUser: Endpoint {
        public static let route = Route.get("/api/auth/user")
        public typealias Output = User

        public init() {}
    }

    /// `PUT /api/auth/user`: sets the username. Throws 400 "Username already taken" when another user has it,
    /// regardless of case.
    public struct UpdateUser: Endpoint {
        public static let route = Route.put("/api/auth/user")
        public typealias Output = User

        /// The username, under the rule of ``Username/validate(_:)``.
        public var username: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Username.validate(username) }
    }

    /// The rule for usernames, for showing mistakes while a user types.
    public enum Username {
        /// Checks a username: 3 to 20 characters of `a–z A–Z 0–9 _` and the space, and not only spaces.
        ///
        /// - Throws: A problem of status 400, in the server's words.
        public static func validate(_ username: String) throws(Problem) {
            guard !username.isEmpty else { throw Problem(.badRequest, "Username is required") }
            guard username.length >= 3 else {
                throw Problem(.badRequest, "String must contain at least 3 character(s)")
            }
            guard username.length <= 20 else {
                throw Problem(.badRequest, "String must contain at most 20 character(s)")
            }
            guard username.unicodeScalars.allSatisfy(isAllowed) else {
                throw Problem(
                    .badRequest, "Username can only contain letters, numbers, underscores, and spaces")
            }
            guard !username.isBlank else { throw Problem(.badRequest, "Username must not be blank") }
        }

        private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", " ": true
            default: false
            }
        }
    }

    /// `POST /api/auth/user/profile-picture` (multipart/form-data, field `profilePicture`): uploads up to 5 MiB of
    /// JPEG, PNG, GIF, WebP or HEIC, which become a JPEG of 200 by 200 pixels.
    ///
    /// Throws 400 "Only image files are allowed" for another declared type, and 400 "Failed to upload profile picture"
    /// for a file that is not such an image or has more than 40 megapixels.
    public struct UploadProfilePicture: Endpoint {
        public static let route = Route.post(
            "/api/auth/user/profile-picture",
            in: .multipart(
                UploadRules(
                    field: "profilePicture", maximumSize: 5_242_880, missing: "No file uploaded",
                    unexpected: "Unexpected field", tooLarge: "File too large")),
            idempotencyKey: true)
        public typealias Output = User

        /// The picture.
        public var picture: Upload
        private init(derived: Never, _ picture: Never) { switch derived {} }

        enum CodingKeys: String, CodingKey { case picture = "profilePicture" }
    }

    /// `DELETE /api/auth/user`: deletes the caller's account with its picture, entries, reactions, invites and
    /// memberships, which end as with ``LeaveGroup``. An addition to the contract (decisions §6).
    ///
    /// Locations that the user added stay, without the user's name. Groups that the user created and that continue pass
    /// to the longest-standing admin. From then on, a token that was issued earlier or in the same second is refused
    /// with 401 "Unauthorized"; a later token creates an empty account.
    public struct DeleteUser: Endpoint {
        public static let route = Route.delete("/api/auth/user")
        public typealias Output = Confirmation

        public init() {}
    }
}
