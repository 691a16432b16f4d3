import Contract

extension GTSD {
    static let onboarding = Section("Onboarding", [CompleteOnboarding.self, GetOnboarding.self])

    /// A user's goal: `lose_weight`, `gain_muscle`, `maintain` or `improve_health`.
    public struct Goal: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// To lose weight.
        public static let loseWeight = Self(rawValue: "lose_weight")
        /// To gain muscle.
        public static let gainMuscle = Self(rawValue: "gain_muscle")
        /// To keep the present weight.
        public static let maintain = Self(rawValue: "maintain")
        /// The goal of being healthier.
        public static let improveHealth = Self(rawValue: "improve_health")
        /// Every value that the contract names.
        public static let known = [loseWeight, gainMuscle, maintain, improveHealth]
    }

    /// How active a user is, from `sedentary` to `extremely_active`.
    public struct ActivityLevel: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Little or no exercise.
        public static let sedentary = Self(rawValue: "sedentary")
        /// Light exercise.
        public static let lightlyActive = Self(rawValue: "lightly_active")
        /// Moderate exercise.
        public static let moderatelyActive = Self(rawValue: "moderately_active")
        /// Hard exercise.
        public static let veryActive = Self(rawValue: "very_active")
        /// Very hard exercise or physical work.
        public static let extremelyActive = Self(rawValue: "extremely_active")
        /// Every value that the contract names.
        public static let known = [sedentary, lightlyActive, moderatelyActive, veryActive, extremelyActive]
    }

    /// A user's gender: `male`, `female`, or `other` for everything else.
    public struct Gender: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Male.
        public static let male = Self(rawValue: "male")
        /// Female.
        public static let female = Self(rawValue: "female")
        /// Any other.
        public static let other = Self(rawValue: "other")
        /// The value in the form in which it is stored.
        package var normal: Self { [.male, .female].contains(self) ? self : .other }
    }

    /// `POST /v1/onboarding`: stores the profile that plans are made from. Answers 201 the first time, 200 when it is
    /// replaced. An addition to the contract.
    public struct CompleteOnboarding: Endpoint {
        public static let route = Route.post("/v1/onboarding", .created, idempotencyKey: true)
        public typealias Output = APIResponse<OnboardingStatus>
        public static let fieldRules = ["timezone": Zone.rule]
        /// The accepted ages, in years.
        public static let ages: ClosedRange<Int64> = 13...120

        /// The day of birth, 13 to 120 years ago: a day, or a date-time that stands for a day. A date-time stands for
        /// the date as it is written, or for the date in the user's zone when it ends with `Z`.
        public var dateOfBirth: String
        /// The gender: at most 20 characters.
        public var gender: Gender
        /// The goal.
        public var primaryGoal: Goal
        /// The weight in kilograms, 30 to 300.
        public var currentWeight: Double
        /// The desired weight in kilograms, 30 to 300.
        public var targetWeight: Double?
        /// The height in centimetres, 100 to 250.
        public var height: Double
        /// The level of activity.
        public var activityLevel: ActivityLevel
        /// The day by which the goal is to be reached: a day in the future, written like ``dateOfBirth``.
        public var targetDate: String?
        /// The time zone, an IANA name; the account's own when absent.
        public var timezone: String?
        /// Dietary preferences: at most 50 of 1 to 100 characters.
        public var dietaryPreferences: [String]?
        /// Allergies: at most 50 of 1 to 100 characters.
        public var allergies: [String]?
        /// The number of meals per day, 1 to 10; 3 when absent.
        public var mealsPerDay: Int?

        public init(
            dateOfBirth: Day, gender: Gender, primaryGoal: Goal, currentWeight: Double, targetWeight: Double? = nil,
            height: Double, activityLevel: ActivityLevel, targetDate: Day? = nil, timezone: String? = nil,
            dietaryPreferences: [String]? = nil, allergies: [String]? = nil, mealsPerDay: Int? = nil
        ) {
            self.dateOfBirth = dateOfBirth.description
            self.gender = gender
            self.primaryGoal = primaryGoal
            self.currentWeight = currentWeight
            self.targetWeight = targetWeight
            self.height = height
            self.activityLevel = activityLevel
            self.targetDate = targetDate?.description
            self.timezone = timezone
            self.dietaryPreferences = dietaryPreferences
            self.allergies = allergies
            self.mealsPerDay = mealsPerDay
        }

        public func validate(_ form: inout Validation) {
            func required(_ name: String, _ expected: Validation.Expected, _ isRight: Bool) {
                form.field(name, expected, absent: Validation.required, "Invalid \(name)", unless: isRight)
            }
            func optional(_ name: String, _ expected: Validation.Expected, _ isRight: Bool?) {
                form.field(name, expected, "Invalid \(name)", unless: isRight ?? true)
            }
            required("dateOfBirth", .string, DayOrInstant(dateOfBirth) != nil)
            required("gender", .string, !gender.rawValue.isBlank && gender.rawValue.length <= 20)
            required("primaryGoal", .string, Goal.known.contains(primaryGoal))
            required("currentWeight", .number, Self.weights ~= currentWeight)
            optional("targetWeight", .number, targetWeight.map { Self.weights ~= $0 })
            required("height", .number, 100...250 ~= height)
            required("activityLevel", .string, ActivityLevel.known.contains(activityLevel))
            optional("targetDate", .string, targetDate.map { DayOrInstant($0) != nil })
            optional("timezone", .string, timezone.map(Zone.isName))
            optional("dietaryPreferences", .array, dietaryPreferences.map(Self.areShort))
            optional("allergies", .array, allergies.map(Self.areShort))
            optional("mealsPerDay", .number, mealsPerDay.map { 1...10 ~= $0 })
        }

        private static let weights = 30.0...300

        private static func areShort(_ texts: [String]) -> Bool {
            texts.count <= 50 && texts.allSatisfy { 1...100 ~= $0.trimmed.length }
        }

        /// Returns the number of full years between two days.
        package static func age(born: Day, on day: Day) -> Int64 {
            func parts(_ day: Day) -> (year: Int64, rest: Substring) {
                let text = day.description
                return (Int64(text.prefix(4)) ?? 0, text.suffix(5))
            }
            let (birth, today) = (parts(born), parts(day))
            // A person who was born on 29 February is a year older on 1 March.
            return today.year - birth.year - (today.rest < birth.rest ? 1 : 0)
        }
    }

    /// `GET /v1/onboarding`: returns the stored profile. Throws 404 "Onboarding has not been completed". An addition to
    /// the contract.
    public struct GetOnboarding: Endpoint {
        public static let route = Route.get("/v1/onboarding")
        public typealias Output = APIResponse<OnboardingStatus>

        public init() {}
    }

    /// The answer of the onboarding operations.
    public struct OnboardingStatus: Codable, Hashable, Sendable {
        /// The profile.
        public var profile: Profile
        private init(derived: Never) { switch derived {} }
    }

    /// The profile that plans are made from.
    public struct Profile: Codable, Hashable, Sendable {
        /// The day of birth.
        public var dateOfBirth: Day
        /// The gender.
        public var gender: Gender
        /// The goal.
        public var primaryGoal: Goal
        /// The weight in kilograms.
        public var currentWeight: Double
        /// The desired weight in kilograms.
        @OrNull public var targetWeight: Double?
        /// The height in centimetres.
        public var height: Double
        /// The level of activity.
        public var activityLevel: ActivityLevel
        /// The day by which the goal is to be reached.
        @OrNull public var targetDate: Day?
        /// The time zone, an IANA name.
        public var timezone: String
        /// Dietary preferences.
        public var dietaryPreferences: [String]
        /// Allergies.
        public var allergies: [String]
        /// The number of meals per day.
        public var mealsPerDay: Int
        /// Whether the onboarding is complete: true in every profile.
        public var hasCompletedOnboarding: Bool = true
        private init(derived: Never) { switch derived {} }
    }
}

/// A day in a request, or a date-time that stands for one.
package enum DayOrInstant: Hashable, Sendable {
    /// The day as it is written: `1990-05-15`, or the date of `1990-05-15T08:00:00+02:00`.
    case day(Day)
    /// A date-time in UTC, in milliseconds since 1970, such as midnight in a date picker. The day that it stands for
    /// depends on the user's zone.
    case instant(Int64)

    /// Parses a text. Fails when the text is neither a day nor a date-time.
    package init?(_ text: String) {
        if let day = Day(text) {
            self = .day(day)
        } else if let time = Timestamp<Milliseconds>(text) {
            if text.hasSuffix("Z") || text.hasSuffix("z") {
                self = .instant(time.milliseconds)
            } else if let day = Day(String(text.prefix(10))) {
                self = .day(day)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}
