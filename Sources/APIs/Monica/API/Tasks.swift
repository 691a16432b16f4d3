import Contract

extension Monica {
    static let tasks: [any Contract.Endpoint.Type] = [
        List<Task>.self, ListOfContact<Task>.self, Get<Task>.self, Create<Task>.self, Update<Task>.self,
        Delete<Task>.self,
    ]

    public enum TaskOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case completedAt = "completed_at"
    }

    /// What is to be done, for somebody or for nobody in particular.
    public struct Task: Listed, Writable, Identifiable {
        public typealias By = TaskOrder
        public typealias Draft = TaskDraft
        public static let plural = "tasks"
        public static let singular = "task"
        /// The published answer is 200, unlike that of the others.
        public static let createdStatus = HTTPStatus.ok

        public var id: Int
        public var uuid: String
        public private(set) var object = "task"
        @OrNull public var contactID: Int?
        public var title: String
        @OrNull public var description: String?
        public var completed: Bool
        /// Set exactly when it is completed.
        @OrNull public var completedAt: Timestamp?
        public var account: AccountReference
        @OrNull public var contact: ShortContact?
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String = "", contactID: Int? = nil, title: String, description: String? = nil,
            completedAt: Timestamp? = nil, account: Int = 1, contact: ShortContact? = nil, createdAt: Timestamp,
            updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.contactID = contactID
            self.title = title
            self.description = description
            completed = completedAt != nil
            self.completedAt = completedAt
            self.account = AccountReference(id: account)
            self.contact = contact
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { contactID == contact }

        enum CodingKeys: String, CodingKey {
            case id, uuid, object
            case contactID = "contact_id"
            case title, description, completed
            case completedAt = "completed_at"
            case account, contact
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            title = try fields.text(.title) ?? ""
            description = try fields.text(.description)
            let done = try fields.time(.completedAt)
            completedAt = done
            completed = try fields.truth(.completed) ?? (done != nil)
            account = try fields.value(.account) ?? AccountReference(id: 0)
            let nested: ShortContact? = try fields.value(.contact)
            contact = nested
            contactID = try fields.integer(.contactID) ?? nested?.id
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    public struct TaskDraft: Draft, Hashable {
        public typealias Item = Task

        /// At most 255 characters.
        public var title: String
        /// At most 100,000 characters.
        public var description: String?
        /// Stays what it was when the task was made.
        public var contactID: Int?
        /// A new task is open, whatever this says.
        public var completed: Bool

        public init(title: String, description: String? = nil, contactID: Int? = nil, completed: Bool = false) {
            self.title = title
            self.description = description
            self.contactID = contactID
            self.completed = completed
        }

        /// A task as it is, to be changed in part and sent back.
        public init(_ task: Task) {
            self.init(
                title: task.title, description: task.description, contactID: task.contactID, completed: task.completed)
        }

        public var form: Form {
            Form([
                "title": .string(title), "description": .orNull(description), "contact_id": .orNull(contactID),
                "completed": .bool(completed),
            ])
        }
    }
}
