import Contract
import Foundation

extension GTSD {
    static let tasks = Section(
        "Tasks",
        [
            ListTasks.self, SubmitEvidence.self, CompleteTask.self, UncompleteTask.self,
        ])

    /// The type of a task: `cardio`, `strength`, `nutrition` or `photos`. A newer server may have more.
    public struct TaskType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Endurance exercise.
        public static let cardio = Self(rawValue: "cardio")
        /// Strength exercise.
        public static let strength = Self(rawValue: "strength")
        /// Nutrition.
        public static let nutrition = Self(rawValue: "nutrition")
        /// Progress photos.
        public static let photos = Self(rawValue: "photos")
        /// Every value that the contract names.
        public static let known = [cardio, strength, nutrition, photos]
    }

    /// The type of evidence: `text_log`, `metrics` or `photo_reference`. A newer server may have more.
    public struct EvidenceType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A text.
        public static let textLog = Self(rawValue: "text_log")
        /// Named numbers and texts.
        public static let metrics = Self(rawValue: "metrics")
        /// The URL of a photo.
        public static let photoReference = Self(rawValue: "photo_reference")
        /// Every value that the contract names.
        public static let known = [textLog, metrics, photoReference]
    }

    /// A task of a day.
    public struct Task: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Task>

        /// The task's id.
        public var id: ID
        /// The type of the task.
        public var type: TaskType
        /// The title.
        public var title: String
        /// The instructions for the task.
        public var description: String
        /// The day on which the task is due.
        public var dueDate: Day
        /// Whether the task is completed.
        public var completed: Bool
        /// The time of completion; nil until then.
        @OrNull public var completedAt: Timestamp?
        /// The latest evidence; nil while there is none.
        @OrNull public var evidence: TaskEvidence?
        private init(derived: Never) { switch derived {} }
    }

    /// Evidence as its task shows it.
    public struct TaskEvidence: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Evidence>

        /// The evidence's id.
        public var id: ID
        /// The type of the evidence.
        public var type: EvidenceType
        /// The content.
        public var data: EvidenceData
        /// The user's notes.
        @OrNull public var notes: String?
        private init(derived: Never) { switch derived {} }
    }

    /// Evidence that a task was done.
    public struct Evidence: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Evidence>

        /// The evidence's id.
        public var id: ID
        /// The task.
        public var taskId: Task.ID
        /// The type of the evidence.
        public var type: EvidenceType
        /// The content.
        public var data: EvidenceData
        /// The user's notes.
        @OrNull public var notes: String?
        /// The time at which it was submitted.
        public var createdAt: Timestamp
        /// The time at which it happened, if the request said so. An addition to the contract.
        public var occurredAt: Timestamp?
        private init(derived: Never, without occurredAt: Never) { switch derived {} }
    }

    /// The content of evidence: at least the part that its type names.
    public struct EvidenceData: Codable, Hashable, Sendable {
        /// A text: 1 to 2,000 characters after trimming.
        public var text: String? = nil
        /// 1 to 50 numbers and texts, each under a name of 1 to 64 characters; a text has at most 200.
        public var metrics: [String: JSONValue]? = nil
        /// An `http` or `https` URL of at most 2,048 characters. The server never fetches it.
        public var photoUrl: String? = nil
        /// Whether one of the fields had a value of another type.
        private var isMisshapen = false
        private init(derived: Never) { switch derived {} }

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
                // Metrics are encoded by name, so that the stored text is the same each time.
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

        /// The content in the form in which it is stored.
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
                    guard !name.isBlank, name.length <= 64 else { return false }
                    switch value {
                    case .integer: return true
                    case .number(let number): return number.isFinite
                    case .string(let text): return text.length <= 200
                    default: return false
                    }
                }
        }

        private static func isURL(_ text: String) -> Bool {
            // Foundation accepts some URLs with spaces, and escapes them.
            guard text.length <= 2048, !text.containsSpaceOrControl, let url = URL(string: text) else {
                return false
            }
            return ["http", "https"].contains(url.scheme?.lowercased()) && url.host?.isEmpty == false
        }
    }

    /// `GET /v1/tasks/today`: returns a day's tasks, by id. They are created when the day is first requested.
    ///
    /// The answer's ``APIResponse/cached`` says whether it may be up to a minute old. A user's own changes are visible
    /// at once.
    public struct ListTasks: Endpoint {
        public static let route = Route.get("/v1/tasks/today")
        public typealias Output = APIResponse<DayTasks>

        /// The day, `YYYY-MM-DD`; today in the user's zone when absent. Days before the sign-up, and days more than 7
        /// days ahead, have no tasks.
        public var date: String?
        /// The number of tasks to return: 1 to 100, 50 when absent.
        public var limit: Int?
        /// The number of tasks to skip.
        public var offset: Int?
        /// Returns only tasks of this type.
        public var type: TaskType?

        public init(date: Day? = nil, limit: Int? = nil, offset: Int? = nil, type: TaskType? = nil) {
            self.date = date?.description
            self.limit = limit
            self.offset = offset
            self.type = type
        }

        public func validate(_ form: inout Validation) {
            form.field("date", nil) { DayText.mistakes(date) }
            Paging.validate(limit: limit, offset: offset, in: &form)
            form.field("type", nil, "Invalid task type", unless: type.map(TaskType.known.contains) ?? true)
        }
    }

    /// A day's tasks, or a page of them.
    public struct DayTasks: Codable, Hashable, Sendable {
        /// The number of all tasks of that day and type, not only of this page.
        public var totalTasks: Int
        /// The number of completed tasks of that day and type.
        public var completedTasks: Int
        /// The tasks of the page.
        public var tasks: [Task]
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /v1/evidence`: submits evidence, which completes its task.
    ///
    /// With ``occurredAt`` the server records that time as the task's completion, and can still credit the day on which
    /// it fell. Throws 404 "Task <id> not found or does not belong to user".
    public struct SubmitEvidence: Endpoint {
        public static let route = Route.post("/v1/evidence", .created, idempotencyKey: true)
            .rememberingKeys(forHours: 72)
        public typealias Output = APIResponse<SubmittedEvidence>

        /// The task.
        public var taskId: Task.ID
        /// The type of the evidence.
        public var type: EvidenceType
        /// The content.
        public var data: EvidenceData
        /// The user's notes: at most 1,000 characters after trimming.
        public var notes: String? = nil
        /// The time at which it happened, for evidence that was made without a network: `2025-10-26T10:00:00Z`, or with an
        /// offset; at most 48 hours ago, and at most a minute ahead of the server. The present time when absent. An
        /// addition to the contract.
        public var occurredAt: String?
        /// The hours that ``occurredAt`` may be in the past.
        public static let maximumAge = 48

        private init(derived: Never, without occurredAt: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.id(
                "taskId", .number, absent: Validation.required, "Task ID must be a positive integer", taskId)
            form.field(
                "type", .string, absent: Validation.required, "Invalid evidence type",
                unless: EvidenceType.known.contains(type))
            form.field(
                "data", .object, absent: Validation.required, "Evidence data must match the specified type",
                unless: data.fits(type))
            form.field(
                "notes", .string, "Notes must be at most 1000 characters",
                unless: (notes?.trimmed.length ?? 0) <= 1000)
            form.field(
                "occurredAt", .string, "Invalid occurredAt",
                unless: occurredAt.map { Contract.Timestamp<Milliseconds>($0) != nil } ?? true)
        }
    }

    /// The result of submitting evidence.
    public struct SubmittedEvidence: Codable, Hashable, Sendable {
        /// The evidence.
        public var evidence: Evidence
        /// Whether today has begun to count in the streak; with ``SubmitEvidence/occurredAt``, whether the day of that time
        /// has.
        public var streakUpdated: Bool
        /// The number of compliant days in a row.
        public var newStreak: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /v1/tasks/{taskId}/complete`: completes a task without evidence. An addition to the contract.
    public struct CompleteTask: Endpoint {
        public static let route = Route.post("/v1/tasks/{taskId}/complete")
        public typealias Output = APIResponse<ChangedTask>

        /// The task.
        public var taskId: Task.ID
        private init(derived: Never, _ taskId: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.id("taskId", nil, "Task ID must be a positive integer", taskId)
        }
    }

    /// `POST /v1/tasks/{taskId}/uncomplete`: reopens a task. Its evidence stays. An addition to the contract.
    ///
    /// Today no longer counts when too few of its tasks remain completed.
    public struct UncompleteTask: Endpoint {
        public static let route = Route.post("/v1/tasks/{taskId}/uncomplete")
        public typealias Output = APIResponse<ChangedTask>

        /// The task.
        public var taskId: Task.ID
        private init(derived: Never, _ taskId: Never) { switch derived {} }

        public func validate(_ form: inout Validation) {
            form.id("taskId", nil, "Task ID must be a positive integer", taskId)
        }
    }

    /// The result of completing or reopening a task.
    public struct ChangedTask: Codable, Hashable, Sendable {
        /// The task.
        public var task: Task
        /// Whether today has begun or ceased to count in the streak.
        public var streakUpdated: Bool
        /// The number of compliant days in a row.
        public var newStreak: Int
        private init(derived: Never) { switch derived {} }
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
