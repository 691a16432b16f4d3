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
        private init(derived: Never, _ file: Never) { switch derived {} }
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
        private init(derived: Never) { switch derived {} }
    }

    /// Describes a message's file, so that an app can show it before it has downloaded it. An addition to the contract.
    public struct FileDescription: Codable, Hashable, Sendable {
        /// The file's name without a path.
        public var filename: String
        /// The media type in lower case, such as `image/jpeg`.
        public var mimeType: String
        /// The size in bytes.
        public var size: Int64
        private init(derived: Never) { switch derived {} }
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
        private init(derived: Never) { switch derived {} }
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
        private init(derived: Never) { switch derived {} }
    }
}
