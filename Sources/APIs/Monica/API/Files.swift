import Contract

extension Monica {
    /// A file that belongs to a contact: a ``Photo`` or a ``Document``. It is stored and deleted, and never changed.
    public protocol FileOfContact: Listed, Deletable where By == FileOrder {
        /// Whether an upload may have the file's bytes as text, in place of the file.
        static var takesText: Bool { get }
        /// The rules of the fields beside the file.
        static var fieldRules: [String: FieldRule] { get }
    }

    /// The orders of a list of files.
    public enum FileOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// The maximum size of a photo or a document in bytes: 10 MiB.
    public static let maximumFileSize: Int64 = 10_485_760

    /// `POST /photos`, `/documents` (multipart/form-data): stores a file of a contact, of up to 10 MiB.
    ///
    /// The file is in the field `photo` or `document`; of several the first counts. A photo is JPEG, PNG, GIF, WebP or HEIC, and
    /// is stored upright and without metadata, HEIC as JPEG. A document is of any type, and may be empty. Throws 413 "File too
    /// large (max 10 MB)", 413 "Storage quota exceeded", 422 for a photo that is none, and 404 for an unknown contact.
    public struct Store<Item: FileOfContact>: Endpoint {
        public static var route: Route {
            let rules = UploadRules(
                field: Item.singular, maximumSize: maximumFileSize, missing: nil,
                tooLarge: "File too large (max 10 MB)")
            return .post(
                "/" + Item.plural, .created, in: Item.takesText ? .jsonOrMultipart(rules) : .multipart(rules),
                idempotencyKey: true)
        }
        public typealias Output = APIResponse<Item>
        public static var fieldRules: [String: FieldRule] { Item.fieldRules }

        /// The fields beside the file.
        public var form: Form
        /// The file. The request is refused without one.
        public var file: Upload?

        /// Creates a request.
        public init(_ file: Upload, of contact: Int) {
            form = Form([FileKey.contact.rawValue: .integer(Int64(contact))])
            self.file = file
        }

        /// The key of the file.
        private static var key: FileKey { FileKey(rawValue: Item.singular) ?? .document }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: FileKey.self)
            form = Form([:])
            for key in [FileKey.contact] + (Item.takesText ? [.data] : []) {
                form.fields[key.rawValue] = try container.decodeIfPresent(JSONValue.self, forKey: key)
            }
            // A form has numbers as text.
            if case .string(let digits)? = form.fields[FileKey.contact.rawValue], let id = Int64(digits) {
                form.fields[FileKey.contact.rawValue] = .integer(id)
            }
            // What is no file, such as a text in a body that is JSON, counts for nothing.
            file = (try? container.decodeIfPresent(Upload.self, forKey: Self.key)) ?? nil
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: FileKey.self)
            for key in [FileKey.contact, .data] {
                try container.encodeIfPresent(form.fields[key.rawValue], forKey: key)
            }
            try container.encodeIfPresent(file, forKey: Self.key)
        }
    }
}

extension Monica.Store<Monica.Photo> {
    /// Creates a request with a photo as text, for clients that cannot send files.
    ///
    /// - Parameter data: The bytes in Base64 (RFC 4648), or a `data:` URL of them (RFC 2397); the whole request has at most
    ///   1 MiB.
    public init(data: String, of contact: Int) {
        form = .init([FileKey.contact.rawValue: .integer(Int64(contact)), FileKey.data.rawValue: .string(data)])
        file = nil
    }
}

private enum FileKey: String, CodingKey {
    case contact = "contact_id"
    case data, photo, document
}
