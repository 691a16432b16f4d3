import Contract

extension Messenger {
    static let files: [any Contract.Endpoint.Type] = [UploadFile.self, DownloadFile.self, DeleteFile.self]

    /// `POST /files` (multipart/form-data, field `file`): up to 50 MiB of any type, empty allowed.
    ///
    /// 413 "File too large (max 50 MB)" and "Storage quota exceeded". Apps call `MessengerClient.upload`, which tells how
    /// much is on its way.
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

        /// Its name is cut to the last path component and 255 bytes.
        public var file: Upload

        public init(_ file: Upload) { self.file = file }

        enum CodingKeys: String, CodingKey { case file }
    }

    /// An uploaded file. Nobody sees it until a message or a profile refers to it.
    public struct File: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<File>

        public var id: ID
        /// Without a path; `file` when nothing was left of it.
        public var filename: String
        /// In lower case, such as `image/jpeg`; `application/octet-stream` when the declared one was none.
        public var mimeType: String
        /// Its name in the store, of no use to an app.
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

    /// `GET /files/{id}/download`: 302 to a URL that anybody may fetch for an hour, without a token.
    ///
    /// For the uploader and for members of a chat that holds the file; 404 "File not found" for anybody else. Apps call
    /// `MessengerClient.download`, or `downloadURL(of:)`.
    public struct DownloadFile: Endpoint {
        public static let route = Route.get("/files/{id}/download", .found)
        public typealias Output = Empty

        public var id: File.ID

        public init(id: File.ID) { self.id = id }
    }

    /// `DELETE /files/{id}`: removes an upload that no message and no profile uses; 204. An addition to the contract.
    ///
    /// 404 "File not found" for a file that is used, or is not the caller's. An upload that stays unused for 7 days is
    /// removed by itself.
    public struct DeleteFile: Endpoint {
        public static let route = Route.delete("/files/{id}", .noContent)
        public typealias Output = Empty

        public var id: File.ID

        public init(id: File.ID) { self.id = id }
    }
}
