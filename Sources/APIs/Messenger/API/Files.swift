import Contract

extension Messenger {
    static let files = Section("Files", [UploadFile.self, DownloadFile.self, DeleteFile.self])

    /// `POST /files` (multipart/form-data, field `file`): uploads a file of up to 50 MiB, of any type; it may be empty.
    ///
    /// Throws 413 "File too large (max 50 MB)" and 413 "Storage quota exceeded". Apps call `MessengerClient.upload`,
    /// which reports progress.
    public struct UploadFile: Endpoint {
        public static let route = Route.post(
            "/files", .created,
            in: .multipart(
                UploadRules(
                    field: "file", maximumSize: 52_428_800,
                    missing: "No file uploaded (use multipart/form-data field 'file')",
                    tooLarge: "File too large (max 50 MB)")),
            idempotencyKey: true)
        public typealias Output = File

        /// The file. Its name is cut to the last path component and to 255 bytes.
        public var file: Upload

        public init(_ file: Upload) { self.file = file }

        enum CodingKeys: String, CodingKey { case file }
    }

    /// An uploaded file. Other users cannot see it until a message or a profile refers to it.
    public struct File: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<File>

        /// The file's id.
        public var id: ID
        /// The file's name without a path; `file` when nothing else is left of it.
        public var filename: String
        /// The media type in lower case, such as `image/jpeg`; `application/octet-stream` when the declared type was
        /// invalid.
        public var mimeType: String
        /// The file's name in the object store, which an app does not need.
        public var objectKey: String

        public init(id: ID, filename: String, mimeType: String, objectKey: String) {
            self.id = id
            self.filename = filename
            self.mimeType = mimeType
            self.objectKey = objectKey
        }

        enum CodingKeys: String, CodingKey {
            case id, filename
            case mimeType = "mime_type"
            case objectKey = "object_key"
        }
    }

    /// Describes a message's file, so that an app can show it before it has downloaded it. An addition to the contract.
    public struct FileDescription: Codable, Hashable, Sendable {
        /// The file's name without a path.
        public var filename: String
        /// The media type in lower case, such as `image/jpeg`.
        public var mimeType: String
        /// The size in bytes.
        public var size: Int64

        public init(filename: String, mimeType: String, size: Int64) {
            self.filename = filename
            self.mimeType = mimeType
            self.size = size
        }

        enum CodingKeys: String, CodingKey {
            case filename
            case mimeType = "mime_type"
            case size
        }
    }

    /// `GET /files/{id}/download`: answers 302 with a URL that anyone who has it may fetch for an hour, without a
    /// token.
    ///
    /// It is available to the uploader and to members of a chat that holds the file; all others get 404 "File not
    /// found". Apps call `MessengerClient.download` or `downloadURL(of:)`.
    public struct DownloadFile: Endpoint {
        public static let route = Route.get("/files/{id}/download", .found)
        public typealias Output = Empty

        /// The file.
        public var id: File.ID

        public init(id: File.ID) { self.id = id }
    }

    /// `DELETE /files/{id}`: removes an upload that no message and no profile uses, and answers 204. An addition to the
    /// contract.
    ///
    /// Throws 404 "File not found" for a file that is in use or belongs to another user. An upload that stays unused
    /// for 7 days is removed automatically.
    public struct DeleteFile: Endpoint {
        public static let route = Route.delete("/files/{id}", .noContent)
        public typealias Output = Empty

        /// The file.
        public var id: File.ID

        public init(id: File.ID) { self.id = id }
    }
}
