import Contract
import Foundation

extension GTSD {
    static let tasks: [any Contract.Endpoint.Type] = [
        ListTasks.self, SubmitEvidence.self, CompleteTask.self, UncompleteTask.self,
    ]

    /// `cardio`, `strength`, `nutrition` or `photos`. A newer server may know more.
    public struct TaskType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let cardio = Self(rawValue: "cardio")
        public static let strength = Self(rawValue: "strength")
        public static let nutrition = Self(rawValue: "nutrition")
        public static let photos = Self(rawValue: "photos")
        static let all = [cardio, strength, nutrition, photos]
    }

    /// `text_log`, `metrics` or `photo_reference`. A newer server may know more.
    public struct EvidenceType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let textLog = Self(rawValue: "text_log")
        public static let metrics = Self(rawValue: "metrics")
        public static let photoReference = Self(rawValue: "photo_reference")
        static let all = [textLog, metrics, photoReference]
    }

    /// Something to do on a day.
    public struct Task: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Task>

        public var id: ID
        public var type: TaskType
        public var title: String
        public var description: String
        public var dueDate: Day
        public var completed: Bool
        /// Nil until it is completed.
        @OrNull public var completedAt: Timestamp?
        /// The latest; nil while there is none.
        @OrNull public var evidence: TaskEvidence?

        public init(
            id: ID, type: TaskType, title: String, description: String, dueDate: Day, completed: Bool,
            completedAt: Timestamp?, evidence: TaskEvidence?
        ) {
            self.id = id
            self.type = type
            self.title = title
            self.description = description
            self.dueDate = dueDate
            self.completed = completed
            self.completedAt = completedAt
            self.evidence = evidence
        }
    }

    /// Evidence as its task shows it.
    public struct TaskEvidence: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Evidence>

        public var id: ID
        public var type: EvidenceType
        public var data: EvidenceData
        @OrNull public var notes: String?

        public init(id: ID, type: EvidenceType, data: EvidenceData, notes: String?) {
            self.id = id
            self.type = type
            self.data = data
            self.notes = notes
        }
    }

    /// That a task was done.
    public struct Evidence: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Evidence>

        public var id: ID
        public var taskId: Task.ID
        public var type: EvidenceType
        public var data: EvidenceData
        @OrNull public var notes: String?
        public var createdAt: Timestamp

        public init(
            id: ID, taskId: Task.ID, type: EvidenceType, data: EvidenceData, notes: String?, createdAt: Timestamp
        ) {
            self.id = id
            self.taskId = taskId
            self.type = type
            self.data = data
            self.notes = notes
            self.createdAt = createdAt
        }
    }

    /// What evidence says: at least what its type names.
    public struct EvidenceData: Codable, Hashable, Sendable {
        /// 1 to 2,000 characters after trimming.
        public var text: String?
        /// 1 to 50 numbers and texts, each under a name of 1 to 64 characters; a text has at most 200.
        public var metrics: [String: JSONValue]?
        /// An `http` or `https` URL of at most 2,048 characters. Nobody fetches it.
        public var photoUrl: String?
        /// Whether there was something else in the place of one of them.
        private var isMisshapen = false

        public init(text: String? = nil, metrics: [String: JSONValue]? = nil, photoUrl: String? = nil) {
            self.text = text
            self.metrics = metrics
            self.photoUrl = photoUrl
        }

        private enum CodingKeys: String, CodingKey { case text, metrics, photoUrl }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            do {
                text = try container.decodeIfPresent(String.self, forKey: .text)
                metrics = try container.decodeIfPresent([String: JSONValue].self, forKey: .metrics)
                photoUrl = try container.decodeIfPresent(String.self, forKey: .photoUrl)
            } catch is DecodingError {
                isMisshapen = true
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(text, forKey: .text)
            if let metrics {
                // By name, so that what is kept is the same text each time.
                var values = container.nestedContainer(keyedBy: MetricName.self, forKey: .metrics)
                for (name, value) in metrics.sorted(by: { $0.key < $1.key }) {
                    try values.encode(value, forKey: MetricName(stringValue: name))
                }
            }
            try container.encodeIfPresent(photoUrl, forKey: .photoUrl)
        }

        private struct MetricName: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        /// As it is kept.
        package var normal: EvidenceData {
            var copy = self
            copy.text = text?.trimmed
            return copy
        }

        func fits(_ type: EvidenceType) -> Bool {
            guard !isMisshapen, text.map({ 1...2000 ~= $0.trimmed.length }) ?? true,
                metrics.map(Self.areMetrics) ?? true, photoUrl.map(Self.isURL) ?? true
            else { return false }
            switch type {
            case .textLog: return text != nil
            case .metrics: return metrics != nil
            case .photoReference: return photoUrl != nil
            default: return true
            }
        }

        private static func areMetrics(_ metrics: [String: JSONValue]) -> Bool {
            1...50 ~= metrics.count
                && metrics.allSatisfy { name, value in
                    guard 1...64 ~= name.length else { return false }
                    switch value {
                    case .integer: return true
                    case .number(let number): return number.isFinite
                    case .string(let text): return text.length <= 200
                    default: return false
                    }
                }
        }

        private static func isURL(_ text: String) -> Bool {
            // Foundation reads some with spaces, and escapes them.
            guard text.length <= 2048, !text.containsSpaceOrControl, let url = URL(string: text) else {
                return false
            }
            return ["http", "https"].contains(url.scheme?.lowercased()) && url.host?.isEmpty == false
        }
    }

    /// `GET /v1/tasks/today`: a day's tasks, by id. They are made the first time the day is asked for.
    ///
    /// The answer's ``APIResponse/cached`` says whether it is up to a minute old; whoever changes something sees it at once.
    public struct ListTasks: Endpoint {
        public static let route = Route.get("/v1/tasks/today")
        public typealias Output = APIResponse<DayTasks>

        /// `YYYY-MM-DD`; today in the user's zone when absent. Days before the sign-up, and more than 7 ahead, have none.
        public var date: String?
        /// 1 to 100, 50 when absent.
        public var limit: Int?
        public var offset: Int?
        public var type: TaskType?

        public init(date: Day? = nil, limit: Int? = nil, offset: Int? = nil, type: TaskType? = nil) {
            self.date = date?.description
            self.limit = limit
            self.offset = offset
            self.type = type
        }

        public func judge(_ form: inout Validation) {
            form.field("date", nil) { DayText.mistakes(date) }
            Paging.judge(limit: limit, offset: offset, in: &form)
            form.field("type", nil, "Invalid task type", unless: type.map(TaskType.all.contains) ?? true)
        }
    }

    /// A day's tasks, or a part of them.
    public struct DayTasks: Codable, Hashable, Sendable {
        /// All of that day and type, not only those of this page.
        public var totalTasks: Int
        public var completedTasks: Int
        public var tasks: [Task]

        public init(totalTasks: Int, completedTasks: Int, tasks: [Task]) {
            self.totalTasks = totalTasks
            self.completedTasks = completedTasks
            self.tasks = tasks
        }
    }

    /// `POST /v1/evidence`: says that a task was done, which completes it.
    ///
    /// 404 "Task <id> not found or does not belong to user".
    public struct SubmitEvidence: Endpoint {
        public static let route = Route.post("/v1/evidence", .created, idempotencyKey: true)
        public typealias Output = APIResponse<SubmittedEvidence>

        public var taskId: Task.ID
        public var type: EvidenceType
        public var data: EvidenceData
        /// At most 1,000 characters after trimming.
        public var notes: String?

        public init(taskId: Task.ID, type: EvidenceType, data: EvidenceData, notes: String? = nil) {
            self.taskId = taskId
            self.type = type
            self.data = data
            self.notes = notes
        }

        public func judge(_ form: inout Validation) {
            form.field(
                "taskId", .number, absent: Validation.required, "Task ID must be a positive integer",
                unless: taskId.isRepresentable)
            form.field(
                "type", .string, absent: Validation.required, "Invalid evidence type",
                unless: EvidenceType.all.contains(type))
            form.field(
                "data", .object, absent: Validation.required, "Evidence data must match the specified type",
                unless: data.fits(type))
            form.field(
                "notes", .string, "Notes must be at most 1000 characters",
                unless: (notes?.trimmed.length ?? 0) <= 1000)
        }
    }

    /// What evidence did.
    public struct SubmittedEvidence: Codable, Hashable, Sendable {
        public var evidence: Evidence
        /// Whether today counts from now on.
        public var streakUpdated: Bool
        /// Days in a row.
        public var newStreak: Int

        public init(evidence: Evidence, streakUpdated: Bool, newStreak: Int) {
            self.evidence = evidence
            self.streakUpdated = streakUpdated
            self.newStreak = newStreak
        }
    }

    /// `POST /v1/tasks/{taskId}/complete`: completes a task without evidence. An addition to the contract.
    public struct CompleteTask: Endpoint {
        public static let route = Route.post("/v1/tasks/{taskId}/complete")
        public typealias Output = APIResponse<ChangedTask>

        public var taskId: Task.ID

        public init(_ taskId: Task.ID) { self.taskId = taskId }

        public func judge(_ form: inout Validation) {
            form.field("taskId", nil, "Task ID must be a positive integer", unless: taskId.isRepresentable)
        }
    }

    /// `POST /v1/tasks/{taskId}/uncomplete`: takes that back. Evidence stays. An addition to the contract.
    ///
    /// Today no longer counts when too few of its tasks are left.
    public struct UncompleteTask: Endpoint {
        public static let route = Route.post("/v1/tasks/{taskId}/uncomplete")
        public typealias Output = APIResponse<ChangedTask>

        public var taskId: Task.ID

        public init(_ taskId: Task.ID) { self.taskId = taskId }

        public func judge(_ form: inout Validation) {
            form.field("taskId", nil, "Task ID must be a positive integer", unless: taskId.isRepresentable)
        }
    }

    /// What completing or uncompleting did.
    public struct ChangedTask: Codable, Hashable, Sendable {
        public var task: Task
        /// Whether today counts, or counts no longer, by this.
        public var streakUpdated: Bool
        public var newStreak: Int

        public init(task: Task, streakUpdated: Bool, newStreak: Int) {
            self.task = task
            self.streakUpdated = streakUpdated
            self.newStreak = newStreak
        }
    }
}

extension GTSD.EvidenceData: WireField {
    public static var absent: Self { Self() }
    public static var malformed: Self? { Self() }

    public var containsNUL: Bool {
        let metrics = (metrics ?? [:]).contains { name, value in
            if case .string(let text) = value { return name.containsNUL || text.containsNUL }
            return name.containsNUL
        }
        return metrics || [text, photoUrl].contains { $0?.containsNUL ?? false }
    }
}
