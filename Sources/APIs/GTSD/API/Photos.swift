import Contract
import Foundation

extension GTSD {
    static let photos: [any Contract.Endpoint.Type] = [
        PresignPhoto.self, ConfirmPhoto.self, ListPhotos.self, DeletePhoto.self,
    ]

    /// `before`, `during` or `after`. A newer server may know more.
    public struct PhotoStage: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let before = Self(rawValue: "before")
        public static let during = Self(rawValue: "during")
        public static let after = Self(rawValue: "after")
        static let all = [before, during, after]
    }

    /// What a progress photo may be.
    public enum PhotoRules {
        public static let contentTypes = ["image/jpeg", "image/png", "image/heic"]
        /// In bytes: 10 MiB.
        public static let maximumSize = 10_485_760
        /// In pixels, of either side.
        public static let sides = 1...50_000

        static func judge(contentType: String, in form: inout Validation) {
            form.field(
                "contentType", .string, absent: Validation.required,
                "Content type must be one of: \(contentTypes.joined(separator: ", "))",
                unless: contentTypes.contains(contentType))
        }

        static func judge(fileSize: Int, in form: inout Validation) {
            let size = form.number("fileSize", fileSize)
            form.field("fileSize", .number, absent: Validation.required) {
                if size <= 0 { return ["File size must be positive"] }
                return size > Double(maximumSize) ? ["File size must be less than 10MB"] : []
            }
        }
    }

    /// A progress photo.
    public struct Photo: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Photo>

        public var id: ID
        /// Its name in the store.
        public var fileKey: String
        /// In bytes.
        public var fileSize: Int
        public var mimeType: String
        /// In pixels, as its sender said.
        @OrNull public var width: Int?
        @OrNull public var height: Int?
        @OrNull public var takenAt: Timestamp?
        public var uploadedAt: Timestamp
        public var createdAt: Timestamp
        /// Good for an hour, for whoever has it. Do not keep it.
        public var downloadUrl: String
        @OrNull public var evidenceType: PhotoStage?

        public init(
            id: ID, fileKey: String, fileSize: Int, mimeType: String, width: Int?, height: Int?, takenAt: Timestamp?,
            uploadedAt: Timestamp, createdAt: Timestamp, downloadUrl: String, evidenceType: PhotoStage?
        ) {
            self.id = id
            self.fileKey = fileKey
            self.fileSize = fileSize
            self.mimeType = mimeType
            self.width = width
            self.height = height
            self.takenAt = takenAt
            self.uploadedAt = uploadedAt
            self.createdAt = createdAt
            self.downloadUrl = downloadUrl
            self.evidenceType = evidenceType
        }
    }

    /// `POST /v1/progress/photo/presign`: where a photo can be put. 20 a minute.
    ///
    /// 400 "Invalid filename: …", "Invalid file extension: …". Apps call `GTSDClient.uploadPhoto`, which does all three
    /// steps.
    public struct PresignPhoto: Endpoint {
        public static let route = Route.post("/v1/progress/photo/presign", idempotencyKey: true)
        public typealias Output = APIResponse<PresignedUpload>

        /// 1 to 255 characters, with the extension jpg, jpeg, png or heic.
        public var fileName: String
        /// One of ``PhotoRules/contentTypes``.
        public var contentType: String
        /// In bytes, up to ``PhotoRules/maximumSize``.
        public var fileSize: Int

        public init(fileName: String, contentType: String, fileSize: Int) {
            self.fileName = fileName
            self.contentType = contentType
            self.fileSize = fileSize
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            fileName = try container.decode(FileName.self, forKey: .fileName).text
            contentType = try container.decode(String.self, forKey: .contentType)
            fileSize = try container.decode(Int.self, forKey: .fileSize)
        }

        public func judge(_ form: inout Validation) {
            form.field("fileName", .string, absent: Validation.required) {
                if fileName.isEmpty { return ["File name is required"] }
                return fileName.length > 255 ? ["File name must be less than 255 characters"] : []
            }
            PhotoRules.judge(contentType: contentType, in: &form)
            PhotoRules.judge(fileSize: fileSize, in: &form)
        }

        enum CodingKeys: String, CodingKey { case fileName, contentType, fileSize }

        /// A name with a NUL in it is refused as a name, not as a text.
        private struct FileName: WireField {
            let text: String
            static let absent = FileName(text: "")

            private init(text: String) { self.text = text }
            init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        }
    }

    /// Where a photo can be put.
    public struct PresignedUpload: Codable, Hashable, Sendable {
        /// Takes one PUT of the file, without a token and without any header.
        public var uploadUrl: String
        public var fileKey: String
        /// In seconds: 3600.
        public var expiresIn: Int

        public init(uploadUrl: String, fileKey: String, expiresIn: Int) {
            self.uploadUrl = uploadUrl
            self.fileKey = fileKey
            self.expiresIn = expiresIn
        }
    }

    /// `POST /v1/progress/photo/confirm`: says that a photo has been put there. 201, and 200 for one that was confirmed
    /// before, of which nothing changes. 30 a minute.
    ///
    /// 403 "Invalid file key: …", 404 "File not found in storage: …", 400 "Content type mismatch: …" and "File size
    /// mismatch: …", 404 for a task that is not one's own.
    public struct ConfirmPhoto: Endpoint {
        public static let route = Route.post("/v1/progress/photo/confirm", .created, idempotencyKey: true)
        public typealias Output = APIResponse<ConfirmedPhoto>

        public var fileKey: String
        /// In pixels.
        public var width: Int?
        public var height: Int?
        /// Exactly, in bytes.
        public var fileSize: Int
        /// As the file's first bytes say.
        public var contentType: String
        /// `2025-10-26T10:00:00Z`, or with an offset.
        public var takenAt: String?
        /// With ``evidenceType`` only.
        public var taskId: Task.ID?
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

        public func judge(_ form: inout Validation) {
            form.field(
                "fileKey", .string, absent: Validation.required, "File key is required", unless: !fileKey.isEmpty)
            for (name, side) in [("width", width), ("height", height)] {
                form.field(name, .number, "Invalid \(name)", unless: side.map { PhotoRules.sides ~= $0 } ?? true)
            }
            PhotoRules.judge(fileSize: fileSize, in: &form)
            PhotoRules.judge(contentType: contentType, in: &form)
            form.field(
                "takenAt", .string, "Invalid takenAt",
                unless: takenAt.map { Contract.Timestamp<Milliseconds>($0) != nil } ?? true)
            form.field(
                "taskId", .number, "Task ID must be a positive integer", unless: taskId?.isValid ?? true)
            form.field(
                "evidenceType", .string,
                absent: taskId == nil ? nil : "evidenceType is required when taskId is provided"
            ) {
                guard let evidenceType else {
                    return taskId == nil ? [] : ["evidenceType is required when taskId is provided"]
                }
                return PhotoStage.all.contains(evidenceType) ? [] : ["Invalid evidenceType"]
            }
        }
    }

    /// A photo that was confirmed.
    public struct ConfirmedPhoto: Codable, Hashable, Sendable {
        public var photoId: Photo.ID
        /// Good for an hour.
        public var downloadUrl: String

        public init(photoId: Photo.ID, downloadUrl: String) {
            self.photoId = photoId
            self.downloadUrl = downloadUrl
        }
    }

    /// `GET /v1/progress/photos`: one's own, the newest first.
    public struct ListPhotos: Endpoint {
        public static let route = Route.get("/v1/progress/photos")
        public typealias Output = APIResponse<PhotoPage>

        /// 1 to 100, 50 when absent.
        public var limit: Int?
        public var offset: Int?
        /// Only those of a task.
        public var taskId: Task.ID?

        public init(limit: Int? = nil, offset: Int? = nil, taskId: Task.ID? = nil) {
            self.limit = limit
            self.offset = offset
            self.taskId = taskId
        }

        public func judge(_ form: inout Validation) {
            Paging.judge(limit: limit, offset: offset, in: &form)
            form.field("taskId", nil, "Task ID must be a positive integer", unless: taskId?.isValid ?? true)
        }
    }

    /// A part of a list of photos.
    public struct PhotoPage: Codable, Hashable, Sendable {
        public var photos: [Photo]
        public var pagination: Pagination

        public init(photos: [Photo], pagination: Pagination) {
            self.photos = photos
            self.pagination = pagination
        }
    }

    /// Which part of a list it is.
    public struct Pagination: Codable, Hashable, Sendable {
        public var limit: Int
        public var offset: Int
        /// Of this part, not of the list.
        public var total: Int

        public init(limit: Int, offset: Int, total: Int) {
            self.limit = limit
            self.offset = offset
            self.total = total
        }
    }

    /// `DELETE /v1/progress/photo/{photoId}`: removes a photo, and what is stored of it.
    ///
    /// 404 "Photo <id> not found or does not belong to user", the second time too.
    public struct DeletePhoto: Endpoint {
        public static let route = Route.delete("/v1/progress/photo/{photoId}")
        public typealias Output = APIResponse<NoData>

        public var photoId: Photo.ID

        public init(_ photoId: Photo.ID) { self.photoId = photoId }

        public func judge(_ form: inout Validation) {
            form.field("photoId", nil, "Photo ID must be a positive integer", unless: photoId.isRepresentable)
        }
    }
}
