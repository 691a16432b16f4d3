import Backend
import Contract
import ContractServer
import Database
import Foundation
import GTSDAPI
import HTTPTypes

extension GTSDService {
    func plans(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(answering: generatePlan)
    }

    func generatePlan(
        _ request: GTSD.GeneratePlan, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.GeneratedPlan>> {
        let now = time.milliseconds()
        let isForced = request.forceRecompute ?? false
        if !isForced, info.idempotencyKey == nil {
            // Returning an existing plan needs no write.
            let plan = try await database.read { [people] db in
                let person = try people.one(caller.user, at: now, in: db)
                return try Plans.one(in: Week.start(of: person.today), of: person.id, in: db)
            }
            if let plan { return Answer(.ok, APIResponse(.init(plan: plan, recomputed: false))) }
        }
        return try await database.write(info.idempotencyKey, errorMessages: GTSD.errorMessages, at: now) {
            [people] db in
            let person = try people.lockForChange(caller.user, at: now, in: db)
            let week = Week.start(of: person.today)
            if !isForced, let plan = try Plans.one(in: week, of: person.id, in: db) {
                return Answer(.ok, APIResponse(.init(plan: plan, recomputed: false)))
            }
            guard let profile = try Profiles.one(of: person.id, in: db) else {
                throw Problem(.badRequest, "Please complete onboarding before generating a plan")
            }
            let formula = PlanFormula(.init(profile, on: person.today))
            let plan = try Plans.replace(
                formula, goal: profile.primaryGoal.rawValue, in: week, of: person.id, at: now, in: db)
            return Answer(.created, APIResponse(.init(plan: plan, recomputed: isForced)))
        }
    }
}

extension PlanFormula.Body {
    fileprivate init(_ profile: GTSD.Profile, on today: Day) {
        self.init(
            kilograms: profile.currentWeight, targetKilograms: profile.targetWeight, centimetres: profile.height,
            age: GTSD.CompleteOnboarding.age(born: profile.dateOfBirth, on: today), gender: profile.gender.rawValue,
            activity: profile.activityLevel.rawValue, goal: profile.primaryGoal.rawValue)
    }
}

enum Plans {
    private enum Column: String, Columns {
        case id, bmr, tdee
        case targetCalories = "target_calories"
        case proteinGrams = "protein_grams"
        case carbGrams = "carb_grams"
        case fatGrams = "fat_grams"
        case content
        case createdAt = "created_at"

        static let list = ColumnList(Self.self)
    }

    static func one(in week: Day, of user: UserID, in db: Session) throws -> GTSD.Plan? {
        try db.one(
            """
            SELECT \(Column.list) FROM plans WHERE user_id = \(user) AND week = \(week)
            """
        ) { row in
            let content: String = try row.get(Column.content)
            return .init(
                id: .init(number: try row.get(Column.id)), userId: .init(user),
                weekStartDate: week, weekEndDate: week.advanced(by: 6),
                targets: .init(
                    bmr: try row.get(Column.bmr), tdee: try row.get(Column.tdee),
                    targetCalories: try row.get(Column.targetCalories),
                    proteinGrams: try row.get(Column.proteinGrams), carbGrams: try row.get(Column.carbGrams),
                    fatGrams: try row.get(Column.fatGrams)),
                educationalContent: try JSONDecoder().decode(
                    GTSD.EducationalContent.self, from: Data(content.utf8)),
                createdAt: try row.get(Column.createdAt))
        }
    }

    /// Returns the targets with which a week's tasks are created.
    static func targets(in week: Day, of user: UserID, in db: Session) throws -> TaskPlan.Targets? {
        try db.one(
            "SELECT protein_grams, target_calories, water FROM plans WHERE user_id = \(user) AND week = \(week)"
        ) { row in
            .init(proteinGrams: try row.get(0), targetCalories: try row.get(1), water: try row.get(2))
        }
    }

    /// Creates the plan of a week, and replaces an existing one.
    static func replace(
        _ plan: PlanFormula, goal: String, in week: Day, of user: UserID, at now: Int64, in db: Session
    ) throws -> GTSD.Plan {
        let content = GTSD.EducationalContent(
            title: PlanText.title,
            sections: PlanText(plan, goal: goal).sections.map { .init(heading: $0.heading, content: $0.content) })
        let text = String(decoding: try JSONEncoder().encode(content), as: UTF8.self)
        try db.run("DELETE FROM plans WHERE user_id = \(user) AND week = \(week)")
        try db.run(
            """
            INSERT INTO plans (user_id, week, bmr, tdee, target_calories, protein_grams, carb_grams, fat_grams, water,
                content, created_at)
            VALUES (\(user), \(week), \(plan.bmr), \(plan.tdee), \(plan.targetCalories), \(plan.proteinGrams),
                \(plan.carbGrams), \(plan.fatGrams), \(plan.water), \(text), \(now))
            """)
        guard let made = try one(in: week, of: user, in: db) else {
            throw DatabaseFailure.failed("a plan was inserted and is not there")
        }
        return made
    }
}
