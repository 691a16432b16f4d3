import Contract

extension Dunbar {
    static let posts: [any Contract.Endpoint.Type] = [
        CreatePost.self, ListUserPosts.self, ListPostsByPath.self, ListPostsByQuery.self, GetFeed.self,
        DeletePost.self,
    ]

    public struct Post: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Post>

        public var id: ID
        /// May be empty where there are media.
        public var content: String
        /// Absolute URLs of pictures and videos, in the order of the upload.
        public var media: [String]
        public var userId: User.ID
        public var createdAt: Timestamp
        /// Its author.
        public var user: UserSummary

        public init(
            id: ID, content: String, media: [String], userId: User.ID, createdAt: Timestamp, user: UserSummary
        ) {
            self.id = id
            self.content = content
            self.media = media
            self.userId = userId
            self.createdAt = createdAt
            self.user = user
        }
    }

    /// `POST /posts` (multipart/form-data with `content` and any number of `media`, or JSON with `content`).
    ///
    /// 400 "Only image and video files are allowed!" for what is no JPEG, PNG, GIF, WebP, HEIC, MP4, MOV or WebM by its
    /// content; 413 "File too large (max 50 MB)". All files are kept, or none.
    public struct CreatePost: Endpoint {
        public static let route = Route.post(
            "/posts", .created,
            in: .jsonOrMultipart(
                UploadRules(
                    field: "media", maximumSize: Dunbar.maximumFileSize, maximumCount: maximumMedia, missing: nil,
                    tooLarge: Dunbar.fileTooLarge)),
            idempotencyKey: true)
        public typealias Output = Post
        public static let maximumMedia = 10

        /// At most 5,000 characters, kept as they are. Not blank where there are no media.
        public var content: String
        /// At most 10, of at most 50 MiB each.
        public var media: [Upload]

        public init(content: String, media: [Upload] = []) {
            self.content = content
            self.media = media
        }

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

    /// `GET /users/{id}/posts`: a user's posts, newest first; none where the caller may not see them, and of nobody.
    public struct ListUserPosts: Endpoint {
        public static let route = Route.get("/users/{id}/posts")
        public typealias Output = [Post]

        public var user: User.ID
        /// 1 to 100; without it the newest 500. An addition to the contract.
        public var limit: Int?
        /// Only posts before this one. An addition to the contract.
        public var before: Post.ID?

        public init(user: User.ID, limit: Int? = nil, before: Post.ID? = nil) {
            self.user = user
            self.limit = limit
            self.before = before
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }

        enum CodingKeys: String, CodingKey {
            case user = "id"
            case limit, before
        }
    }

    /// `GET /posts/{id}`: the same as ``ListUserPosts``. The id is a user's.
    public struct ListPostsByPath: Endpoint {
        public static let route = Route.get("/posts/{id}")
        public typealias Output = [Post]

        public var user: User.ID
        public var limit: Int?
        public var before: Post.ID?

        public init(user: User.ID, limit: Int? = nil, before: Post.ID? = nil) {
            self.user = user
            self.limit = limit
            self.before = before
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }

        enum CodingKeys: String, CodingKey {
            case user = "id"
            case limit, before
        }
    }

    /// `GET /posts?userId=`: the same as ``ListUserPosts``. 400 "Missing userId parameter", "Invalid userId parameter".
    public struct ListPostsByQuery: Endpoint {
        public static let route = Route.get("/posts")
        public typealias Output = [Post]

        /// There is one, or the request is refused.
        public var user: User.ID?
        public var limit: Int?
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

        enum CodingKeys: String, CodingKey {
            case user = "userId"
            case limit, before
        }
    }

    /// `GET /feed`: the caller's own posts and those of whom they follow, newest first.
    public struct GetFeed: Endpoint {
        public static let route = Route.get("/feed")
        public typealias Output = [Post]

        /// 1 to 100; without it the newest 500. An addition to the contract.
        public var limit: Int?
        /// Only posts before this one. An addition to the contract.
        public var before: Post.ID?

        public init(limit: Int? = nil, before: Post.ID? = nil) {
            self.limit = limit
            self.before = before
        }

        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }
    }

    /// `DELETE /posts/{id}`: one's own post, or any as an admin, with its comments and files. The id is a post's.
    ///
    /// 404 "Post not found" for one that the caller may not see, too; 403 "Not authorized to delete this post".
    public struct DeletePost: Endpoint {
        public static let route = Route.delete("/posts/{id}")
        public typealias Output = Confirmation

        public var id: Post.ID

        public init(id: Post.ID) { self.id = id }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }
}
