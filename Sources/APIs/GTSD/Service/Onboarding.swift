import Backend
import Contract
import ContractServer
import Database
import Foundation
import GTSDAPI
import HTTPTypes

extension GTSDService {
    func onboarding(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(answering: completeOnboarding)
        routes.on(use: getOnboarding)
    }

    func completeOnboarding(
        _ request: GTSD.CompleteOnboarding, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.OnboardingStatus>> {
        try people.requireKnown(zone: request.timezone)
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: GTSD.errorMessages, at: now) {
            [people] db in
            if let zone = request.timezone {
                try people.move(people.lock(caller.user, at: now, in: db), to: zone, at: now, in: db)
            }
            let person = try people.lockForChange(caller.user, at: now, in: db)
            let profile = try Profiles.validate(request, from: person)
            let isNew = try Profiles.put(profile, of: person.id, at: now, in: db)
            guard let kept = try Profiles.one(of: person.id, in: db) else { throw Users.gone }
            return Answer(isNew ? .created : .ok, APIResponse(.init(profile: kept)))
        }
    }

    func getOnboarding(
        _ request: GTSD.GetOnboarding, from caller: Caller
    ) async throws -> APIResponse<GTSD.OnboardingStatus> {
        guard let profile = try await database.read({ try Profiles.one(of: caller.user, in: $0) }) else {
            throw Problem(.notFound, "Onboarding has not been completed")
        }
        return APIResponse(.init(profile: profile))
    }
}

/// The rows of `profiles`: what a user has said of themselves at the onboarding. It is no part of the account (``Users``),
/// and a ``Person`` has nothing of it.
enum Profiles {
    /// Returns the profile that a request describes, with its days in the user's time zone.
    ///
    /// - Throws: A `Problem` with 400 when a date is not allowed.
    static func validate(_ request: GTSD.CompleteOnboarding, from person: Person) throws -> GTSD.Profile {
        let today = person.today
        let birth = DayOrInstant(request.dateOfBirth).map(person.day).flatMap { day in
            GTSD.CompleteOnboarding.ages ~= GTSD.CompleteOnboarding.age(born: day, on: today) ? day : nil
        }
        let targetDate = request.targetDate.flatMap { DayOrInstant($0) }.map(person.day)
        let isPast = targetDate.map { $0 <= today } ?? false
        guard let birth, !isPast else {
            throw GTSD.Validation.refusal(of: (birth == nil ? ["dateOfBirth"] : []) + (isPast ? ["targetDate"] : []))
        }
        return .init(
            dateOfBirth: birth, gender: request.gender.normal, primaryGoal: request.primaryGoal,
            currentWeight: request.currentWeight, targetWeight: request.targetWeight, height: request.height,
            activityLevel: request.activityLevel, targetDate: targetDate, timezone: person.zoneName,
            dietaryPreferences: (request.dietaryPreferences ?? []).map(\.trimmed),
            allergies: (request.allergies ?? []).map(\.trimmed), mealsPerDay: request.mealsPerDay ?? 3)
    }

    /// Stores a profile, and returns whether there was none before.
    static func put(_ profile: GTSD.Profile, of user: UserID, at now: Int64, in db: Session) throws -> Bool {
        let isNew = try db.run("DELETE FROM profiles WHERE user_id = \(user)") == 0
        try db.run(
            """
            INSERT INTO profiles (user_id, date_of_birth, gender, goal, weight, target_weight, height, activity,
                target_date, dietary_preferences, allergies, meals_per_day)
            VALUES (\(user), \(profile.dateOfBirth), \(profile.gender), \(profile.primaryGoal),
                \(profile.currentWeight), \(profile.targetWeight), \(profile.height), \(profile.activityLevel),
                \(profile.targetDate), \(try json(profile.dietaryPreferences)), \(try json(profile.allergies)),
                \(profile.mealsPerDay))
            """)
        try db.run("UPDATE users SET updated_at = \(now) WHERE id = \(user)")
        return isNew
    }

    /// The columns of a profile `p` of a user `u`.
    private enum Column: String, Columns {
        case dateOfBirth = "p.date_of_birth"
        case gender = "p.gender"
        case goal = "p.goal"
        case weight = "p.weight"
        case targetWeight = "p.target_weight"
        case height = "p.height"
        case activity = "p.activity"
        case targetDate = "p.target_date"
        case timezone = "u.timezone"
        case dietaryPreferences = "p.dietary_preferences"
        case allergies = "p.allergies"
        case mealsPerDay = "p.meals_per_day"

        static let list = ColumnList(Self.self)
    }

    static func one(of user: UserID, in db: Session) throws -> GTSD.Profile? {
        try db.one(
            """
            SELECT \(Column.list) FROM profiles p JOIN users u ON u.id = p.user_id WHERE p.user_id = \(user)
            """
        ) { row in
            .init(
                dateOfBirth: try row.get(Column.dateOfBirth), gender: try row.get(Column.gender),
                primaryGoal: try row.get(Column.goal),
                currentWeight: try row.get(Column.weight), targetWeight: try row.get(Column.targetWeight),
                height: try row.get(Column.height),
                activityLevel: try row.get(Column.activity), targetDate: try row.get(Column.targetDate),
                timezone: try row.get(Column.timezone),
                dietaryPreferences: try texts(row.get(Column.dietaryPreferences)),
                allergies: try texts(row.get(Column.allergies)),
                mealsPerDay: try row.get(Column.mealsPerDay))
        }
    }

    private static func json(_ texts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    }

    private static func texts(_ json: String) throws -> [String] {
        try JSONDecoder().decode([String].self, from: Data(json.utf8))
    }
}
