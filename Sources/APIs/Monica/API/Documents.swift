import Contract

extension Monica {
    static let documents = Section(
        "Documents",
        [
            List<Document>.self, ListOfContact<Document>.self, Get<Document>.self, Store<Document>.self,
            Delete<Document>.self,
        ])

    /// A document about a contact: a file of any type.
    public struct Document: FileOfContact, ReadByMembers, Identifiable {
        public static let plural = "documents"
        public static let singular = "document"
        /// A document comes as a file alone.
        public static let takesText = false
        public static let fieldRules = documentRules

        /// The document's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "document"
        /// The name that its sender gave it, without a path; at most 255 bytes.
        public var originalFilename: String
        /// The document's name in the store, which an app does not need.
        public var newFilename: String
        /// The size in bytes.
        public var filesize: Int
        /// The name's extension in lower case, such as `pdf`; nil when there is none.
        @OrNull public var type: String?
        /// The media type of a PDF, a picture or a film, by its content; `application/octet-stream` for all others.
        public var mimeType: String
        /// The number of downloads on the web pages of a Monica 4. This project's server counts none.
        public var numberOfDownloads: Int
        /// The URL of the file, as an attachment; good for an hour, and for anyone who has it. Do not store it.
        public var link: String
        /// The URL of the resource in the API.
        public var url: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of the upload.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, filename: String, key: String, size: Int, mimeType: String, link: String,
            url: String, account: Int, createdAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            originalFilename = filename
            newFilename = key
            filesize = size
            let parts = filename.split(separator: ".", omittingEmptySubsequences: false)
            type = parts.count > 1 ? parts.last.flatMap { $0.isEmpty ? nil : $0.lowercased() } : nil
            self.mimeType = mimeType
            numberOfDownloads = 0
            self.link = link
            self.url = url
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            updatedAt = createdAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }
}
