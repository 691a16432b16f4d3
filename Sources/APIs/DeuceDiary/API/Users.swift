import Contract
import Foundation

extension DeuceDiary {
    static let users: [any Contract.Endpoint.Type] = [
        GetUser.self, UpdateUser.self, UploadProfilePicture.self, DeleteUser.self, ExportUser.self,
    ]

    /// A user as others see one, and as they see themselves.
    public struct User: Codable, Hashable, Sendable, Identifiable {
        /// As the issuer of the tokens calls the user.
        public typealias ID = TextIdentifier<User>

        public var id: ID
        /// Nil in every user but the caller's own.
        @OrNull public var email: String?
        @OrNull public var firstName: String?
        @OrNull public var lastName: String?
        /// Nil until it is chosen with ``UpdateUser``.
        @OrNull public var username: String?
        /// `/uploads/<name>.jpg`, relative to the base URL: see ``profileImage(relativeTo:)``.
        @OrNull public var profileImageUrl: String?
        /// How many logs, however many groups each went into.
        public var deuceCount: Int
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: ID, email: String?, firstName: String?, lastName: String?, username: String?, profileImageUrl: String?,
            deuceCount: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.email = email
            self.firstName = firstName
            self.lastName = lastName
            self.username = username
            self.profileImageUrl = profileImageUrl
            self.deuceCount = deuceCount
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        /// The username, else the first and last name, else the first, else "Someone".
        public var displayName: String {
            if let username { return username }
            guard let firstName else { return "Someone" }
            return lastName.map { "\(firstName) \($0)" } ?? firstName
        }

        /// Where the picture is; nil without one.
        ///
        /// - Parameter baseURL: The API's, which goes before the path. An absolute URL stays as it is.
        public func profileImage(relativeTo baseURL: URL) -> URL? {
            guard let profileImageUrl, let url = URL(string: profileImageUrl) else { return nil }
            return url.scheme == nil ? baseURL.appendingPathComponent(profileImageUrl) : url
        }
    }

    /// `GET /api/auth/user`: the caller's own account.
    ///
    /// Takes over what the token says of the person's name and address, and restores "Solo Deuces" for somebody who is
    /// in no group.
    public struct GetUser: Endpoint {
        public static let route = Route.get("/api/auth/user")
        public typealias Output = User

        public init() {}
    }

    /// `PUT /api/auth/user`: chooses a username. 400 "Username already taken" when somebody else has it, in whatever
    /// case.
    public struct UpdateUser: Endpoint {
        public static let route = Route.put("/api/auth/user")
        public typealias Output = User

        /// See ``Username/validate(_:)``.
        public var username: String

        public init(username: String) { self.username = username }

        public func validate() throws(Problem) { try Username.validate(username) }
    }

    /// The rule for usernames, for showing what is wrong while somebody types.
    public enum Username {
        /// 3 to 20 of `a–z A–Z 0–9 _` and the space, not only spaces.
        ///
        /// - Throws: 400, in the server's words.
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

    /// `POST /api/auth/user/profile-picture` (multipart/form-data, field `profilePicture`): up to 5 MiB of JPEG, PNG,
    /// GIF, WebP or HEIC, which become a JPEG of 200 by 200 pixels.
    ///
    /// Refused with 400 "Only image files are allowed" for another declared type, 400 "Failed to upload profile
    /// picture" for what is no such image or has more than 40 megapixels.
    public struct UploadProfilePicture: Endpoint {
        public static let route = Route.post(
            "/api/auth/user/profile-picture",
            in: .multipart(
                UploadRules(
                    field: "profilePicture", maximumSize: 5_242_880, missing: "No file uploaded",
                    unexpected: "Unexpected field", tooLarge: "File too large")),
            idempotencyKey: true)
        public typealias Output = User

        public var picture: Upload

        public init(_ picture: Upload) { self.picture = picture }

        enum CodingKeys: String, CodingKey { case picture = "profilePicture" }
    }

    /// `DELETE /api/auth/user`: deletes the caller's account with their picture, entries, reactions, invites and
    /// memberships, which end as by ``LeaveGroup``. An addition to the contract (decisions §6).
    ///
    /// Locations that they added stay without their name; groups that they made and that survive pass to the
    /// longest-standing admin. A token that was issued before is refused with 401 "Unauthorized" from then on, one of the
    /// same second too; a later one begins an empty account.
    public struct DeleteUser: Endpoint {
        public static let route = Route.delete("/api/auth/user")
        public typealias Output = Confirmation

        public init() {}
    }
}
