import Contract

/// Creates the tasks of one day.
enum TaskPlan {
    struct Item: Hashable, Sendable {
        /// The task's place in the day: 1 to 6.
        let slot: Int
        let type: String
        let title: String
        let description: String
    }

    /// The targets of a plan for a day's food and drink.
    struct Targets: Hashable, Sendable {
        let proteinGrams: Int64
        let targetCalories: Int64
        /// The water in millilitres.
        let water: Int64
    }

    /// Returns the tasks of a day.
    ///
    /// - Parameter targets: The targets of the plan of the day's week; nil without a plan.
    static func items(on day: Day, targets: Targets?) -> [Item] {
        let weekday = Week.weekday(of: day)
        let (type, session) = sessions[weekday]
        var items = [
            Item(
                slot: 1, type: type, title: session,
                description: type == "strength"
                    ? "45 minutes of strength training." : "30 minutes at a pace that suits you."),
            Item(
                slot: 2, type: "cardio", title: "Daily Walk", description: "Walk for 20 minutes at a brisk pace."),
            Item(
                slot: 3, type: "nutrition", title: "Hit Your Protein Target",
                description: targets.map { "Eat at least \($0.proteinGrams) g of protein today." }
                    ?? "Have a source of protein with every meal."),
            Item(
                slot: 4, type: "nutrition", title: "Stay on Your Calorie Target",
                description: targets.map { "Aim for \($0.targetCalories) kcal today." }
                    ?? "Eat three balanced meals today."),
            Item(
                slot: 5, type: "nutrition", title: "Drink Your Water",
                description: "Drink \(targets?.water ?? 2000) ml of water today."),
        ]
        if weekday == 0 {
            items.append(
                Item(
                    slot: 6, type: "photos", title: "Weekly Progress Photo",
                    description: "Take one photo from the front, in the same light as last week."))
        }
        return items
    }

    /// Returns the number of tasks of a day. A plan changes their texts, never their number.
    static func count(on day: Day) -> Int { items(on: day, targets: nil).count }

    /// The sessions from Monday to Sunday.
    private static let sessions = [
        ("strength", "Strength: Lower Body"), ("cardio", "Cardio: Intervals"), ("strength", "Strength: Upper Body"),
        ("cardio", "Cardio: Steady Run"), ("strength", "Strength: Full Body"), ("cardio", "Cardio: Long Session"),
        ("cardio", "Cardio: Active Recovery"),
    ]
}
