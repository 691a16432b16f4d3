import Contract

extension Monica {
    static let tasks = Section(
        "Tasks",
        [
            List<Task>.self, ListOfContact<Task>.self, Get<Task>.self, Create<Task>.self, Update<Task>.self,
            Delete<Task>.self,
        ])

    /// The orders of a list of tasks.
    public enum TaskOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case completedAt = "completed_at"
    }

    /// A task, which may belong to a contact.
    public struct Task: Listed, Writable, Identifiable {
        public typealias By = TaskOrder
        public typealias Draft = TaskDraft
        public static let plural = "tasks"
        public static let singular = "task"
        /// The contract answers 200 here, unlike for other resources.
        public static let fieldRules = taskRules
        public static let newFieldRules = newTaskRules
        public static let createdStatus = HTTPStatus.ok

        /// The task's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "task"
        /// The contact's id; nil for a task without one.
        @OrNull public var contactID: Int?
        /// The title.
        public var title: String
        /// A longer text; nil when there is none.
        @OrNull public var description: String?
        /// Whether the task is completed.
        public var completed: Bool
        /// The time of completion; nil unless the task is completed.
        @OrNull public var completedAt: Timestamp?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil for a task without one.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
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

    /// The fields of a new or changed task.
    public struct TaskDraft: Draft, Hashable {
        public typealias Item = Task

        /// The title: at most 255 characters.
        public var title: String
        /// The longer text: at most 100,000 characters.
        public var description: String? = nil
        /// The contact's id. A change of it is ignored after the task was created.
        public var contactID: Int? = nil
        /// Whether the task is completed. A new task is open, whatever the value.
        public var completed: Bool = false
        private init(derived: Never) { switch derived {} }

        /// Creates a draft from a task, to be changed in part and sent back.
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
