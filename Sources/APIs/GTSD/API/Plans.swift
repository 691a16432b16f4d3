import Contract

extension GTSD {
    static let plans: [any Contract.Endpoint.Type] = [GeneratePlan.self]

    /// `POST /v1/plans/generate`: the plan of this week, Monday to Sunday in the user's zone. 201 for a new one, 200 for the
    /// one that is there. 20 a minute.
    ///
    /// 400 "Please complete onboarding before generating a plan".
    public struct GeneratePlan: Endpoint {
        public static let route = Route.post("/v1/plans/generate", .created, idempotencyKey: true)
        public typealias Output = APIResponse<GeneratedPlan>

        /// Makes a new one in the place of the one that is there.
        public var forceRecompute: Bool?

        public init(forceRecompute: Bool? = nil) { self.forceRecompute = forceRecompute }

        public func judge(_ form: inout Validation) { form.field("forceRecompute", .boolean) { [] } }
    }

    public struct GeneratedPlan: Codable, Hashable, Sendable {
        public var plan: Plan
        /// Whether it was asked for with ``GeneratePlan/forceRecompute``.
        public var recomputed: Bool

        public init(plan: Plan, recomputed: Bool) {
            self.plan = plan
            self.recomputed = recomputed
        }
    }

    /// A week's targets, and why they are what they are.
    public struct Plan: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Plan>

        public var id: ID
        public var userId: User.ID
        /// A Monday.
        public var weekStartDate: Day
        /// The Sunday after it.
        public var weekEndDate: Day
        public var targets: Targets
        public var educationalContent: EducationalContent
        public var createdAt: Timestamp

        public init(
            id: ID, userId: User.ID, weekStartDate: Day, weekEndDate: Day, targets: Targets,
            educationalContent: EducationalContent, createdAt: Timestamp
        ) {
            self.id = id
            self.userId = userId
            self.weekStartDate = weekStartDate
            self.weekEndDate = weekEndDate
            self.targets = targets
            self.educationalContent = educationalContent
            self.createdAt = createdAt
        }
    }

    /// For each day of the week.
    public struct Targets: Codable, Hashable, Sendable {
        /// Energy at rest, in kilocalories.
        public var bmr: Int
        /// Energy with activity, in kilocalories.
        public var tdee: Int
        /// In kilocalories.
        public var targetCalories: Int
        public var proteinGrams: Int
        public var carbGrams: Int
        public var fatGrams: Int

        public init(
            bmr: Int, tdee: Int, targetCalories: Int, proteinGrams: Int, carbGrams: Int, fatGrams: Int
        ) {
            self.bmr = bmr
            self.tdee = tdee
            self.targetCalories = targetCalories
            self.proteinGrams = proteinGrams
            self.carbGrams = carbGrams
            self.fatGrams = fatGrams
        }
    }

    /// In English, with the user's own numbers.
    public struct EducationalContent: Codable, Hashable, Sendable {
        public var title: String
        public var sections: [ContentSection]

        public init(title: String, sections: [ContentSection]) {
            self.title = title
            self.sections = sections
        }
    }

    public struct ContentSection: Codable, Hashable, Sendable {
        public var heading: String
        public var content: String

        public init(heading: String, content: String) {
            self.heading = heading
            self.content = content
        }
    }
}
