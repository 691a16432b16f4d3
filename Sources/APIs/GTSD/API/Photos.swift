import Contract
import Foundation

extension GTSD {
    static let photos = Section(
        "Photos",
        [
            PresignPhoto.self, ConfirmPhoto.self, ListPhotos.self, DeletePhoto.self,
        ])

    /// The stage of progress that a photo shows: `before`, `during` or `after`. A newer server may have more.
    public struct PhotoStage: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The state before the work.
        public static let before = Self(rawValue: "before")
        /// The state during the work.
        public static let during = Self(rawValue: "during")
        /// The state after the work.
        public static let after = Self(rawValue: "after")
        /// Every value that the contract names.
        public static let known = [before, during, after]
    }

    /// The limits of progress photos.
    public enum PhotoRules {
        /// The accepted media types.
        public static let contentTypes = ["image/jpeg", "image/png", "image/heic"]
        /// The maximum size in bytes: 10 MiB.
        public static let maximumSize = 10_485_760
        /// The accepted range of the width and the height, in pixels.
        public static let sides = 1...50_000

        /// The rule of a content type.
        static let contentTypeRule = FieldRule(values: contentTypes)

        static func validate(contentType: String, in form: inout Validation) {
            form.field(
                "contentType", .string, absent: Validation.required,
                "Content type must be one of: \(contentTypes.joined(separator: ", "))",
                unless: contentTypes.contains(contentType))
        }

        static func validate(fileSize: Int, in form: inout Validation) {
            let size = form.number("fileSize", fileSize)
            form.field("fileSize", .number, absent: Validation.required) {
                if size <= 0 { return ["File size must be positive"] }
                return size > Double(maximumSize) ? ["File size must be less than 10MB"] : []
            }
        }
    }

    /// A progress photo.
    public struct Photo: Codable, WrittenByMembers, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Photo>

        /// The photo's id.
        public var id: ID
        /// The photo's name in the store.
        public var fileKey: String
        /// The size in bytes.
        public var fileSize: Int
        /// The media type.
        public var mimeType: String
        /// The width in pixels, as its sender declared; nil when it did not.
        @OrNull public var width: Int?
        /// The height in pixels, as its sender declared; nil when it did not.
        @OrNull public var height: Int?
        /// The time at which it was taken, as its sender declared; nil when it did not.
        @OrNull public var takenAt: Timestamp?
        /// The time of the upload.
        public var uploadedAt: Timestamp
        /// The time of the confirmation.
        public var createdAt: Timestamp
        /// The URL of the photo, valid for an hour and for anyone who has it. Do not store it.
        public var downloadUrl: String
        /// The stage of progress that the photo shows.
        @OrNull public var evidenceType: PhotoStage?
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /v1/progress/photo/presign`: returns a URL to which a photo can be uploaded. The limit is 20 a minute.
    ///
    /// Throws 400 "Invalid filename: …" and 400 "Invalid file extension: …". Apps call `GTSDClient.uploadPhoto`,
    /// which does all three steps.
    public struct PresignPhoto: Endpoint {
        public static let route = Route.post("/v1/progress/photo/presign", idempotencyKey: true)
        public typealias Output = APIResponse<PresignedUpload>
        public static let fieldRules = [
            "contentType": PhotoRules.contentTypeRule,
            "fileName": FieldRule(pattern: #"\.([Jj][Pp][Ee]?[Gg]|[Pp][Nn][Gg]|[Hh][Ee][Ii][Cc])[ \t\r\n]*$"#),
        ]

        /// The file's name: 1 to 255 characters after trimming, with the extension jpg, jpeg, png or heic.
        public var fileName: String
        /// The media type, one of ``PhotoRules/contentTypes``.
        public var contentType: String
        /// The size in bytes, up to ``PhotoRules/maximumSize``.
        public var fileSize: Int
        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            fileName = try container.decode(FileName.self, forKey: .fileName).text
            contentType = try container.decode(String.self, forKey: .contentType)
            fileSize = try container.decode(Int.self, forKey: .fileSize)
        }

        public func validate(_ form: inout Validation) {
            form.field("fileName", .string, absent: Validation.required) {
                let name = fileName.trimmed
                if name.isBlank { return ["File name is required"] }
                return name.length > 255 ? ["File name must be less than 255 characters"] : []
            }
            PhotoRules.validate(contentType: contentType, in: &form)
            PhotoRules.validate(fileSize: fileSize, in: &form)
        }

        /// A file name. One that contains a NUL is refused as an invalid name and not as an invalid text.
        private struct FileName: WireField {
            let text: String
            static let absent = FileName(text: "")

            private init(text: String) { self.text = text }
            init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        }
    }

    /// A URL to which a photo can be uploaded.
    public struct PresignedUpload: Codable, Hashable, Sendable {
        /// The URL. It accepts one PUT of the file, without a token and without any header.
        public var uploadUrl: String
        /// The key to confirm the photo with.
        public var fileKey: String
        /// The lifetime of the URL in seconds: 3600.
        public var expiresIn: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /v1/progress/photo/confirm`: confirms that a photo has been uploaded. Answers 201, or 200 for a photo that
    /// was already confirmed, which then does not change. The limit is 30 a minute.
    ///
    /// Throws 403 "Invalid file key: …", 404 "File not found in storage: …", 400 "Content type mismatch: …", 400
    /// "File size mismatch: …", and 404 for a task of another user.
    public struct ConfirmPhoto: Endpoint {
        public static let route = Route.post("/v1/progress/photo/confirm", .created, idempotencyKey: true)
        public typealias Output = APIResponse<ConfirmedPhoto>
        public static let fieldRules = ["contentType": PhotoRules.contentTypeRule]

        /// The key of the upload.
        public var fileKey: String
        /// The width in pixels.
        public var width: Int?
        /// The height in pixels.
        public var height: Int?
        /// The exact size in bytes.
        public var fileSize: Int
        /// The media type, as the file's first bytes show it.
        public var contentType: String
        /// The time at which the photo was taken: `2025-10-26T10:00:00Z`, or with an offset.
        public var takenAt: String?
        /// The task that the photo belongs to, only together with ``evidenceType``.
        public var taskId: Task.ID?
        /// The stage of progress that the photo shows.
        public var evidenceType: PhotoStage?

        public init(
            fileKey: String, width: Int? = nil, height: Int? = nil, fileSize: Int, contentType: String,
            takenAt: Timestamp? = nil, taskId: Task.ID? = nil, evidenceType: PhotoStage? = nil
        ) {
            self.fileKey = fileKey
            self.width = width
            self.height = height
            self.fileSize = fileSize
            self.contentType = contentType
            self.takenAt = takenAt?.description
            self.taskId = taskId
            self.evidenceType = evidenceType
        }

        public func validate(_ form: inout Validation) {
            form.field(
                "fileKey", .string, absent: Validation.required, "File key is required", unless: !fileKey.isEmpty)
            for (name, side) in [("width", width), ("height", height)] {
                form.field(name, .number, "Invalid \(name)", unless: side.map { PhotoRules.sides ~= $0 } ?? true)
            }
            PhotoRules.validate(fileSize: fileSize, in: &form)
            PhotoRules.validate(contentType: contentType, in: &form)
            form.field(
                "takenAt", .string, "Invalid takenAt",
                unless: takenAt.map { Contract.Timestamp<Milliseconds>($0) != nil } ?? true)
            form.id("taskId", .number, "Task ID must be a positive integer", taskId)
            form.field(
                "evidenceType", .string,
                absent: taskId == nil ? nil : "evidenceType is required when taskId is provided"
            ) {
                guard let evidenceType else {
                    return taskId == nil ? [] : ["evidenceType is required when taskId is provided"]
                }
                return PhotoStage.known.contains(evidenceType) ? [] : ["Invalid evidenceType"]
            }
        }
    }

    /// A confirmed photo.
    public struct ConfirmedPhoto: Codable, Hashable, Sendable {
        /// The photo's id.
        public var photoId: Photo.ID
        /// The URL of the photo, valid for an hour.
        public var downloadUrl: String
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /v1/progress/photos`: returns the caller's own photos, newest first.
    public struct ListPhotos: Endpoint {
        public static let route = Route.get("/v1/progress/photos")
        public typealias Output = APIResponse<PhotoPage>

        /// The number of photos to return: 1 to 100, 50 when absent.
        public var limit: Int? = nil
        /// The number of photos to skip.
        public var offset: Int? = nil
        /// Returns only the photos of this task.
        public var taskId: Task.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            Paging.validate(limit: limit, offset: offset, in: &form)
            form.id("taskId", nil, "Task ID must be a positive integer", taskId)
        }
    }

    /// A page of photos.
    public struct PhotoPage: Codable, Hashable, Sendable {
        /// The photos, newest first.
        public var photos: [Photo]
        /// The position of the page.
        public var pagination: Pagination
        private init(derived: Never) { switch derived {} }
    }

    /// The position of a page in its list.
    public struct Pagination: Codable, Hashable, Sendable {
        /// The requested number of photos.
        public var limit: Int
        /// The number of skipped photos.
        public var offset: Int
        /// The number of photos in this page, not in the list.
        public var total: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `DELETE /v1/progress/photo/{photoId}`: deletes a photo with its file.
    ///
    /// Throws 404 "Photo <id> not found or does not belong to user", also for a second deletion.
    public struct DeletePhoto: Endpoint {
        public static let route = Route.delete("/v1/progress/photo/{photoId}")
        public typealias Output = APIResponse<NoData>

        /// The photo.
        public var photoId: Photo.ID
        private init(derived: Never, _ photoId: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.id("photoId", nil, "Photo ID must be a positive integer", photoId)
        }
    }
}
