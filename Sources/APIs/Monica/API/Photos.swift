import Contract

extension Monica {
    static let photos = Section(
        "Photos",
        [
            List<Photo>.self, ListOfContact<Photo>.self, Get<Photo>.self, Store<Photo>.self, Delete<Photo>.self,
            SetAvatar.self, AddPhotoToGift.self,
        ])

    /// A photo of a contact.
    public struct Photo: FileOfContact, ReadByMembers, Identifiable {
        public static let plural = "photos"
        public static let singular = "photo"
        /// A photo may come as text.
        public static let takesText = true
        public static let fieldRules = photoRules
        /// The maximum number of photos of one gift.
        public static let maximumOfGift = 10

        /// The photo's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "photo"
        /// The name that its sender gave it, without a path; at most 255 bytes.
        public var originalFilename: String
        /// The photo's name in the store, which an app does not need.
        public var newFilename: String
        /// The size in bytes, as it is stored.
        public var filesize: Int
        /// The media type, such as `image/jpeg`, by the photo's content.
        public var mimeType: String
        /// The URL of the picture, good for a day, and for anyone who has it. Do not store it.
        public var link: String
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
            account: Int, createdAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            originalFilename = filename
            newFilename = key
            filesize = size
            self.mimeType = mimeType
            self.link = link
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            updatedAt = createdAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The choice of a contact's picture.
    public enum AvatarChoice: Hashable, Sendable {
        /// The initials on a colour, as long as nothing else is chosen.
        case initials
        /// A drawn face. This project's server draws none, so an app shows the initials.
        case adorable
        /// The picture that the service Gravatar has for the contact's first e-mail address. Apps fetch it there.
        case gravatar
        /// One of the contact's photos, by its id.
        case photo(Int)

        /// The words for the choices on the wire.
        package static let words = ["default"] + wordsOfOthers + ["photo"]
        /// The words for the pictures that this server neither has nor draws.
        package static let wordsOfOthers = ["adorable", "gravatar"]

        fileprivate var form: Form {
            switch self {
            case .initials: Form(["source": "default"])
            case .adorable: Form(["source": "adorable"])
            case .gravatar: Form(["source": "gravatar"])
            case .photo(let id): Form(["source": "photo", "photo_id": .integer(Int64(id))])
            }
        }
    }

    /// `PUT /contacts/{id}/avatar`: chooses a contact's picture, which every answer about the contact then has.
    ///
    /// Throws 404 when the photo is not one of the contact's. A photo that is deleted is no picture any more: the contact has the
    /// initials again.
    public struct SetAvatar: Endpoint {
        public static let route = Route.put("/contacts/{id}/avatar", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = avatarRules

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(id: Int, _ choice: AvatarChoice) {
            self.id = id
            form = choice.form
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `PUT /gifts/{gift}/photo/{photo}`: adds a photo to a gift, and returns the gift. A photo that the gift has stays as it is.
    ///
    /// Throws 404 when the photo is not one of the gift's contact, and 422 when the gift has 10 already.
    public struct AddPhotoToGift: Endpoint {
        public static let route = Route.put("/gifts/{gift}/photo/{photo}", alternatives: [.patch])
        public typealias Output = APIResponse<Gift>

        /// The gift.
        public var gift: Int
        /// The photo.
        public var photo: Int
        private init(derived: Never) { switch derived {} }
    }
}
