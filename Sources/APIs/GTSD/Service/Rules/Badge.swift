import Contract

/// The badges, in the order in which they are listed.
enum Badge: String, CaseIterable, Sendable {
    case firstDay = "first_day"
    case weekWarrior = "week_warrior"
    case monthMaster = "month_master"
    case quarterChampion = "quarter_champion"
    case yearLegend = "year_legend"
    case perfect10 = "perfect_10"
    case perfect30 = "perfect_30"
    case perfect100 = "perfect_100"
    case comeback
    case earlyBird = "early_bird"
    case nightOwl = "night_owl"
    case photoProof = "photo_proof"
    case dataDriver = "data_driver"
    case allRounder = "all_rounder"
    case strengthMaster = "strength_master"
    case cardioKing = "cardio_king"

    /// The badge's name for users.
    var name: String {
        switch self {
        case .firstDay: "First Day"
        case .weekWarrior: "Week Warrior"
        case .monthMaster: "Month Master"
        case .quarterChampion: "Quarter Champion"
        case .yearLegend: "Year Legend"
        case .perfect10: "Perfect 10"
        case .perfect30: "Perfect 30"
        case .perfect100: "Perfect 100"
        case .comeback: "Comeback"
        case .earlyBird: "Early Bird"
        case .nightOwl: "Night Owl"
        case .photoProof: "Photo Proof"
        case .dataDriver: "Data Driver"
        case .allRounder: "All-Rounder"
        case .strengthMaster: "Strength Master"
        case .cardioKing: "Cardio King"
        }
    }

    /// The way to earn the badge, for users.
    var description: String {
        switch self {
        case .firstDay: "Complete your first day."
        case .weekWarrior: "Keep a streak of 7 days."
        case .monthMaster: "Keep a streak of 30 days."
        case .quarterChampion: "Keep a streak of 90 days."
        case .yearLegend: "Keep a streak of 365 days."
        case .perfect10: "Complete every task on 10 days."
        case .perfect30: "Complete every task on 30 days."
        case .perfect100: "Complete every task on 100 days."
        case .comeback: "Come back after one or two days off."
        case .earlyBird: "Complete a task before 9:00 on 7 days in a row."
        case .nightOwl: "Complete a task after 20:00 on 7 days in a row."
        case .photoProof: "Add a progress photo in 4 weeks in a row."
        case .dataDriver: "Log metrics 10 times."
        case .allRounder: "Complete a task of each type in one day."
        case .strengthMaster: "Complete 21 strength sessions without missing one."
        case .cardioKing: "Complete a cardio task on 14 days in a row."
        }
    }
}

/// The facts about a user's days that decide about badges. Queries run only for a badge that needs them.
struct BadgeFacts {
    let today: Day
    let streak: Streak
    /// The credited days, ascending and distinct.
    let creditedDays: [Day]
    let perfectDays: Int
    /// The days that the user's calendar left out.
    let skippedDays: Set<Day>
    /// Returns the days with a task that was due and completed on that day before 09:00.
    let earlyDays: () throws -> Set<Day>
    /// Returns the days with such a task that was completed at 20:00 or later.
    let lateDays: () throws -> Set<Day>
    /// Returns the days with a cardio task that was completed on the same day, at any time.
    let cardioDays: () throws -> Set<Day>
    /// Returns the number of types of tasks that were due and completed today.
    let typesToday: () throws -> Int
    /// Returns the days whose strength task is completed, whenever that happened.
    let strengthDays: () throws -> Set<Day>
    /// Returns the Mondays of weeks in which a photo was confirmed.
    let photoWeeks: () throws -> Set<Day>
    /// Returns the number of evidence entries of the type metrics.
    let metrics: () throws -> Int

    /// Returns whether a badge is earned now.
    func earn(_ badge: Badge) throws -> Bool {
        switch badge {
        case .firstDay: streak.total >= 1
        case .weekWarrior: streak.current >= 7
        case .monthMaster: streak.current >= 30
        case .quarterChampion: streak.current >= 90
        case .yearLegend: streak.current >= 365
        case .perfect10: perfectDays >= 10
        case .perfect30: perfectDays >= 30
        case .perfect100: perfectDays >= 100
        case .comeback: isBack
        case .earlyBird: try Runs.ends(today, in: earlyDays(), length: 7, step: 1)
        case .nightOwl: try Runs.ends(today, in: lateDays(), length: 7, step: 1)
        case .photoProof: try Runs.ends(Week.start(of: today), in: photoWeeks(), length: 4, step: 7)
        case .dataDriver: try metrics() >= 10
        case .allRounder: try typesToday() >= 4
        case .strengthMaster: try Runs.strength(in: strengthDays(), length: 21)
        case .cardioKing: try Runs.ends(today, in: cardioDays(), length: 14, step: 1)
        }
    }

    /// Whether today is credited and the credited day before was 2 or 3 days ago.
    private var isBack: Bool {
        guard creditedDays.last == today, let before = creditedDays.dropLast().last else { return false }
        return 2...3 ~= before.distance(to: today) - skippedDays.count { before < $0 && $0 < today }
    }
}

/// Finds runs of days.
enum Runs {
    /// Returns whether a run of `length` days, `step` days apart, ends on the given day.
    static func ends(_ last: Day, in days: Set<Day>, length: Int, step: Int) -> Bool {
        (0..<length).allSatisfy { days.contains(last.advanced(by: -$0 * step)) }
    }

    /// Returns whether there is a run of so many strength days anywhere: consecutive Mondays, Wednesdays and Fridays.
    static func strength(in days: Set<Day>, length: Int) -> Bool {
        var (run, next): (Int, Day?) = (0, nil)
        for day in days.sorted() {
            run = day == next ? run + 1 : 1
            if run >= length { return true }
            next = day.advanced(by: Week.weekday(of: day) == 4 ? 3 : 2)
        }
        return false
    }
}
