import Contract

extension Dunbar {
    static let posts = Section(
        "Posts",
        [
            CreatePost.self, ListUserPosts.self, ListPostsByPath.self, ListPostsByQuery.self, GetFeed.self,
            DeletePost.self,
        ])

    /// A post: a text, pictures and videos.
    public struct Post: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Post>

        /// The post's id.
        public var id: ID
        /// The text; it may be empty when there are media.
        public var content: String
        /// The absolute URLs of pictures and videos, in the order of the upload.
        public var media: [String]
        /// The author's id.
        public var userId: User.ID
        /// The time of the post.
        public var createdAt: Timestamp
        /// The author.
        @Shared public var user: UserSummary

        public init(
            id: ID, content: String, media: [String], userId: User.ID, createdAt: Timestamp, user: UserSummary
        ) {
            self.init(
                id: id, content: content, media: media, userId: userId, createdAt: createdAt,
                user: Shared(wrappedValue: user))
        }

        package init(
            id: ID, content: String, media: [String], userId: User.ID, createdAt: Timestamp, user: Shared<UserSummary>
        ) {
            self.id = id
            self.content = content
            self.media = media
            self.userId = userId
            self.createdAt = createdAt
            _user = user
        }

        public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

        @usableFromInline
        package func write(to object: inout ObjectWriter) throws {
            try object.write("id", id.rawValue)
            try object.write("content", content)
            try object.write("media", media)
            try object.write("userId", userId.rawValue)
            try object.write("createdAt", createdAt)
            try object.write("user", _user)
        }
    }

    /// `POST /posts` (multipart/form-data with `content` and any number of `media`, or JSON with `content`): publishes
    /// a post.
    ///
    /// Throws 400 "Only image and video files are allowed!" for a file whose content is not JPEG, PNG, GIF, WebP, HEIC,
    /// MP4, MOV or WebM, 400 "Image is damaged or incomplete", and 413 "File too large (max 50 MB)". Either all files are stored or none.
    public struct CreatePost: Endpoint {
        public static let route = Route.post(
            "/posts", .created,
            in: .jsonOrMultipart(
                UploadRules(
                    field: "media", maximumSize: Dunbar.maximumFileSize, maximumCount: maximumMedia, missing: nil,
                    tooLarge: Dunbar.fileTooLarge)),
            idempotencyKey: true
        ).rememberingKeys(forHours: 72)
        public typealias Output = Post
        /// The maximum number of media.
        public static let maximumMedia = 10

        /// The text: at most 5,000 characters, stored unchanged. It must not be blank when there are no media.
        public var content: String
        /// The files: at most 10, of at most 50 MiB each.
        public var media: [Upload] = []
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !content.isBlank || !media.isEmpty else {
                throw Problem(.badRequest, "Post must have content or media")
            }
            guard content.length <= 5000 else {
                throw Problem(.badRequest, "Content must be at most 5000 characters")
            }
            guard media.count <= Self.maximumMedia else {
                throw Problem(.badRequest, "A post can have at most 10 media files")
            }
        }
    }

    /// `GET /users/{id}/posts`: returns a user's posts, newest first. The list is empty for a user who does not exist,
    /// or whose posts the caller may not see.
    public struct ListUserPosts: Endpoint {
        public static let route = Route.get("/users/{id}/posts")
        public typealias Output = [Post]

        /// The user.
        public var user: User.ID
        /// The number of posts to return: 1 to 100; without it the newest 500. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only posts before this one. An addition to the contract.
        public var before: Post.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }
    }

    /// `GET /posts/{id}`: returns the same as ``ListUserPosts``. The id is a user's.
    public struct ListPostsByPath: Endpoint {
        public static let route = Route.get("/posts/{id}")
        public typealias Output = [Post]

        /// The user.
        public var user: User.ID
        /// The number of posts to return, as in ``ListUserPosts``.
        public var limit: Int? = nil
        /// Returns only posts before this one.
        public var before: Post.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }
    }

    /// `GET /posts?userId=`: returns the same as ``ListUserPosts``. Throws 400 "Missing userId parameter" and 400
    /// "Invalid userId parameter".
    public struct ListPostsByQuery: Endpoint {
        public static let route = Route.get("/posts")
        public typealias Output = [Post]

        /// The user. The request is refused without one.
        public var user: User.ID?
        /// The number of posts to return, as in ``ListUserPosts``.
        public var limit: Int?
        /// Returns only posts before this one.
        public var before: Post.ID?

        public init(user: User.ID, limit: Int? = nil, before: Post.ID? = nil) {
            self.user = user
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) {
            guard let user else { throw Problem(.badRequest, "Missing userId parameter") }
            try Dunbar.validate(user, "Invalid userId parameter")
            try Dunbar.validate(limit: limit, upTo: 100, before: before)
        }
    }

    /// `GET /feed`: returns the caller's own posts and those of the users whom the caller follows, newest first.
    public struct GetFeed: Endpoint {
        public static let route = Route.get("/feed")
        public typealias Output = [Post]

        /// The number of posts to return: 1 to 100; without it the newest 500. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only posts before this one. An addition to the contract.
        public var before: Post.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }
    }

    /// `DELETE /posts/{id}`: deletes a post of the caller's, or any post if the caller is an admin, with its comments
    /// and files. The id is a post's.
    ///
    /// Throws 404 "Post not found", also for a post that the caller may not see, and 403 "Not authorized to delete this
    /// post".
    public struct DeletePost: Endpoint {
        public static let route = Route.delete("/posts/{id}")
        public typealias Output = Confirmation

        /// The post.
        public var id: Post.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }
}
