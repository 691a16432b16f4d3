import Contract

/// Changes and deletion of the caller's own account, and a new password: additions to the contract.
extension Messenger {
    static let account = Section(
        "Account", [UpdateMe.self, ChangePassword.self, DeleteMe.self, RequestArchive.self, GetArchive.self])

    /// `PUT /me`: changes the caller's profile. Answers the account as ``GetMe`` does.
    ///
    /// The picture is an upload of the caller's: 404 "File not found" for any other file, 400 "avatar must be an image"
    /// for a file of another type. Every signed-in user may then download it. The former picture is removed, unless a
    /// message refers to it.
    public struct UpdateMe: Endpoint {
        public static let route = Route.put("/me")
        public typealias Output = Account
        /// The maximum length of ``bio``, in characters.
        public static let maximumBio = 500

        /// The new display name: 1 to 64 characters after trimming, as in ``Register``; nil leaves it unchanged.
        public var displayName: String? = nil
        /// The new text about the user: at most 500 characters, stored unchanged.
        public var bio: Change<String> = .unchanged
        /// The new picture.
        public var avatar: Change<File.ID> = .unchanged
        private init(derived: Never) { switch derived {} }

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

        private enum WireNames: String { case avatar = "avatar_file_id" }
    }

    /// A change of a field that may be empty.
    public typealias Change<Value: Sendable> = Contract.Change<Value>

    /// `POST /me/password`: changes the caller's password. All other sessions of the account end, with their sockets and
    /// devices; the caller's own goes on.
    ///
    /// Throws 400 for a new password that ``Register`` would refuse, 403 "Invalid password" for a wrong present one, and
    /// 429 after too many of them, as ``Login`` does. The new password may be the present one.
    public struct ChangePassword: Endpoint {
        public static let route = Route.post("/me/password", .noContent, idempotencyKey: true)
        public typealias Output = Empty

        /// The present password.
        public var currentPassword: String
        /// The new password: 8 to 200 characters, used unchanged.
        public var newPassword: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !currentPassword.isEmpty else { throw Problem(.badRequest, "current_password required") }
            try Register.validate(password: newPassword)
        }
    }

    /// `DELETE /me`: deletes the caller's account for good. Sessions and sockets end. The profile, the address, and
    /// files that no message refers to are removed. The user leaves every chat; a group that the user owns passes to
    /// its longest-standing member. Messages stay, with a sender that can no longer be looked up. The username and the
    /// address become available again.
    ///
    /// Throws 400 "password required", 403 "Invalid password", and 429 after too many wrong passwords, as ``Login``
    /// does. Apps call `MessengerClient.deleteAccount`, which also removes the stored session.
    public struct DeleteMe: Endpoint {
        public static let route = Route.delete("/me", .noContent, in: .json)
        public typealias Output = Empty

        /// The account's password.
        public var password: String
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !password.isEmpty else { throw Problem(.badRequest, "password required") }
        }
    }
}
