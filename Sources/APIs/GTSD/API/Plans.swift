import Contract

extension GTSD {
    static let plans = Section("Plans", [GeneratePlan.self])

    /// `POST /v1/plans/generate`: returns the plan of this week, Monday to Sunday in the user's zone. Answers 201 for a
    /// new one, 200 for an existing one. The limit is 20 a minute.
    ///
    /// Throws 400 "Please complete onboarding before generating a plan".
    public struct GeneratePlan: Endpoint {
        public static let route = Route.post("/v1/plans/generate", .created, idempotencyKey: true)
        public typealias Output = APIResponse<GeneratedPlan>

        /// Whether to make a new plan in place of an existing one.
        public var forceRecompute: Bool? = nil
        private init(derived: Never) { switch derived {} }

        public func validate(_ form: inout Validation) { form.field("forceRecompute", .boolean) { [] } }
    }

    /// The answer to ``GeneratePlan``.
    public struct GeneratedPlan: Codable, Hashable, Sendable {
        /// The plan.
        public var plan: Plan
        /// Whether the plan was recomputed because of ``GeneratePlan/forceRecompute``.
        public var recomputed: Bool
        private init(derived: Never) { switch derived {} }
    }

    /// The targets of a week, with the reasons for them.
    public struct Plan: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Plan>

        /// The plan's id.
        public var id: ID
        /// The user.
        public var userId: User.ID
        /// The first day of the week, a Monday.
        public var weekStartDate: Day
        /// The last day of the week, the Sunday after it.
        public var weekEndDate: Day
        /// The targets.
        public var targets: Targets
        /// The reasons for the targets.
        public var educationalContent: EducationalContent
        /// The time at which the plan was made.
        public var createdAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// The targets for each day of the week.
    public struct Targets: Codable, Hashable, Sendable {
        /// The energy at rest, in kilocalories.
        public var bmr: Int
        /// The energy with activity, in kilocalories.
        public var tdee: Int
        /// The energy to take in, in kilocalories.
        public var targetCalories: Int
        /// Protein in grams.
        public var proteinGrams: Int
        /// Carbohydrates in grams.
        public var carbGrams: Int
        /// Fat in grams.
        public var fatGrams: Int
        private init(derived: Never) { switch derived {} }
    }

    /// The reasons for the targets, in English, with the user's own numbers.
    public struct EducationalContent: Codable, Hashable, Sendable {
        /// The title.
        public var title: String
        /// The sections.
        public var sections: [ContentSection]
        private init(derived: Never) { switch derived {} }
    }

    /// A section of the text.
    public struct ContentSection: Codable, Hashable, Sendable {
        /// The heading.
        public var heading: String
        /// The text.
        public var content: String
        private init(derived: Never) { switch derived {} }
    }
}
