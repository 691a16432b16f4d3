/// The targets of a week, computed from a user's body and goal and rounded half up. Computation is in whole numbers, so
/// that halves are exact: weights in milligrams and heights in micrometres, which represent converted pounds and inches
/// exactly.
struct PlanFormula: Hashable, Sendable {
    /// Resting energy in kilocalories a day (Mifflin and St Jeor, 1990).
    let bmr: Int64
    /// Energy in kilocalories a day, with activity.
    let tdee: Int64
    let targetCalories: Int64
    let proteinGrams: Int64
    let carbGrams: Int64
    let fatGrams: Int64
    /// The millilitres of water a day.
    let water: Int64
    /// The weeks until the target weight is reached; nil when there is no target to reach.
    let weeks: Int64?

    struct Body: Hashable, Sendable {
        var kilograms: Double
        var targetKilograms: Double?
        var centimetres: Double
        /// The age in full years.
        var age: Int64
        /// `male`, `female` or another value.
        var gender: String
        var activity: String
        var goal: String
    }

    init(_ body: Body) {
        let milligrams = Self.milligrams(body.kilograms)
        let micrometres = Int64((body.centimetres * 10_000).rounded())
        let offset: Int64 =
            switch body.gender {
            case "male": 5
            case "female": -161
            default: -78
            }
        // The terms are in millionths: 10 per kilogram, 6.25 per centimetre.
        bmr = Self.half(milligrams * 10 + micrometres * 625 + (offset - 5 * body.age) * 1_000_000, over: 1_000_000)
        let factor: Int64 =
            switch body.activity {
            case "lightly_active": 1375
            case "moderately_active": 1550
            case "very_active": 1725
            case "extremely_active": 1900
            default: 1200
            }
        tdee = Self.half(bmr * factor, over: 1000)
        let (change, protein): (Int64, Int64) =
            switch body.goal {
            case "lose_weight": (-500, 22)
            case "gain_muscle": (400, 24)
            default: (0, 18)
            }
        let calories = max(0, tdee + change)
        targetCalories = calories
        proteinGrams = Self.half(milligrams * protein, over: 10_000_000)
        // Fat provides 30 % of the energy, at 9 kilocalories a gram.
        let fat = Self.half(calories, over: 30)
        let carbs = Self.half(calories - 4 * proteinGrams - 9 * fat, over: 4)
        carbGrams = max(0, carbs)
        fatGrams = carbs < 0 ? max(0, Self.half(calories - 4 * proteinGrams, over: 9)) : fat
        water = Self.half(milligrams * 35, over: 100_000_000) * 100
        weeks = body.targetKilograms.flatMap { target in
            let difference = abs(Self.milligrams(target) - milligrams)
            // The pace is in milligrams a week.
            let pace: Int64? =
                switch body.goal {
                case "lose_weight": 500_000
                case "gain_muscle": 400_000
                default: nil
                }
            return difference == 0 ? nil : pace.map { (difference + $0 - 1) / $0 }
        }
    }

    private static func milligrams(_ kilograms: Double) -> Int64 { Int64((kilograms * 1_000_000).rounded()) }

    /// Divides, and rounds half up: towards the greater number.
    private static func half(_ value: Int64, over divisor: Int64) -> Int64 {
        floorDivide(2 * value + divisor, by: 2 * divisor)
    }
}

/// The explanations of a plan, with the user's own numbers.
struct PlanText: Hashable, Sendable {
    struct Section: Hashable, Sendable {
        let heading: String
        let content: String
    }

    static let title = "Why This Plan Works"
    /// The kilocalories a day below which a user should have a professional's advice.
    static let safeCalories: Int64 = 1200

    let sections: [Section]

    init(_ plan: PlanFormula, goal: String) {
        let change =
            switch goal {
            case "lose_weight": "That is 500 kcal less than you use, so that your body draws on its reserves."
            case "gain_muscle": "That is 400 kcal more than you use, so that there is something to build with."
            default: "That is what you use, so that your weight stays where it is."
            }
        let advice =
            plan.targetCalories < Self.safeCalories
            ? " This is below \(Self.safeCalories) kcal: please see a doctor or a dietitian before you eat this little."
            : ""
        let timeline =
            plan.weeks.map { weeks in
                "At a steady pace you reach your target weight in about \(weeks) \(weeks == 1 ? "week" : "weeks")."
            } ?? "There is no timeline for this goal: keep going, and look at how you feel."
        sections = [
            Section(
                heading: "Your Energy Needs",
                content:
                    "At rest your body uses \(plan.bmr) kcal a day (BMR). With your activity it is \(plan.tdee) kcal"
                    + " (TDEE)."),
            Section(
                heading: "Your Calorie Target", content: "Aim for \(plan.targetCalories) kcal a day. \(change)\(advice)"
            ),
            Section(
                heading: "Your Protein Target",
                content: "Eat \(plan.proteinGrams) g of protein a day, to keep and build muscle."),
            Section(
                heading: "Carbohydrates and Fat",
                content: "The rest of your energy comes from \(plan.carbGrams) g of carbohydrates and"
                    + " \(plan.fatGrams) g of fat."),
            Section(heading: "Hydration", content: "Drink \(plan.water) ml of water a day."),
            Section(heading: "Your Timeline", content: timeline),
        ]
    }
}
