import Contract

extension GTSD {
    static let streaks = Section(
        "Streaks",
        [
            GetStreak.self, ListBadges.self, CheckCompliance.self, GetHistory.self, ListAvailableBadges.self,
        ])

    /// A user's number of compliant days in a row.
    public struct Streak: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Streak>

        /// The streak's id.
        public var id: ID
        /// The user.
        public var userId: User.ID
        /// The number of compliant days up to today, or up to yesterday while today may still count.
        public var currentStreak: Int
        /// The largest number of compliant days in a row so far.
        public var longestStreak: Int
        /// The number of all compliant days.
        public var totalCompliantDays: Int
        /// The last compliant day; nil before the first, which is an empty text on the wire.
        @DayOrEmpty public var lastCompliantDate: Day?
        /// The time at which the streak was created.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp
        private init(derived: Never) { switch derived {} }
    }

    /// The completion of a day's tasks.
    public struct DayCompliance: Codable, Hashable, Sendable {
        /// The day.
        public var date: Day
        /// Whether at least four fifths of the tasks are done.
        public var isCompliant: Bool
        /// The number of completed tasks.
        public var tasksCompleted: Int
        /// The number of tasks.
        public var tasksTotal: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /v1/streaks/me`: returns the caller's streak.
    public struct GetStreak: Endpoint {
        public static let route = Route.get("/v1/streaks/me")
        public typealias Output = APIResponse<StreakStatus>

        public init() {}
    }

    /// A user's streak, and the state of today.
    public struct StreakStatus: Codable, Hashable, Sendable {
        /// The streak.
        public var streak: Streak
        /// The state of today; nil while today has no tasks.
        @OrNull public var todayCompliance: DayCompliance?
        /// Whether today may still be added to the streak.
        public var canIncrementToday: Bool
        private init(derived: Never) { switch derived {} }
    }

    /// The type of a badge. A newer server may have more than the sixteen of ``ListAvailableBadges``.
    public struct BadgeType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The first compliant day.
        public static let firstDay = Self(rawValue: "first_day")
        /// A streak of 7 days.
        public static let weekWarrior = Self(rawValue: "week_warrior")
        /// A streak of 30 days.
        public static let monthMaster = Self(rawValue: "month_master")
        /// A streak of 90 days.
        public static let quarterChampion = Self(rawValue: "quarter_champion")
        /// A streak of 365 days.
        public static let yearLegend = Self(rawValue: "year_legend")
        /// 10 days with every task completed.
        public static let perfect10 = Self(rawValue: "perfect_10")
        /// 30 days with every task completed.
        public static let perfect30 = Self(rawValue: "perfect_30")
        /// 100 days with every task completed.
        public static let perfect100 = Self(rawValue: "perfect_100")
        /// A return after one or two days off.
        public static let comeback = Self(rawValue: "comeback")
        /// A task before 9:00 on 7 days in a row.
        public static let earlyBird = Self(rawValue: "early_bird")
        /// A task after 20:00 on 7 days in a row.
        public static let nightOwl = Self(rawValue: "night_owl")
        /// A progress photo in 4 weeks in a row.
        public static let photoProof = Self(rawValue: "photo_proof")
        /// Metrics logged 10 times.
        public static let dataDriver = Self(rawValue: "data_driver")
        /// A task of each type in one day.
        public static let allRounder = Self(rawValue: "all_rounder")
        /// 21 strength sessions without missing one.
        public static let strengthMaster = Self(rawValue: "strength_master")
        /// A cardio task on 14 days in a row.
        public static let cardioKing = Self(rawValue: "cardio_king")
    }

    /// A badge that a user has earned and keeps.
    public struct Badge: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Badge>

        /// The badge's id.
        public var id: ID
        /// The user.
        public var userId: User.ID
        /// The type of the badge.
        public var badgeType: BadgeType
        /// The time at which it was earned.
        public var awardedAt: Timestamp
        /// Reserved; empty at present.
        public var metadata: [String: JSONValue] = [:]
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /v1/badges/me`: returns the caller's own badges, newest first.
    public struct ListBadges: Endpoint {
        public static let route = Route.get("/v1/badges/me")
        public typealias Output = APIResponse<EarnedBadges>

        public init() {}
    }

    /// A user's badges, and the number of badges that can be earned.
    public struct EarnedBadges: Codable, Hashable, Sendable {
        /// The badges, newest first.
        public var badges: [Badge]
        /// The number of badges that the user has.
        public var totalBadges: Int
        /// The number of badges that can be earned.
        public var totalAvailable: Int
        /// The share of the earned badges in percent, rounded half up.
        public var completionPercentage: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /v1/streaks/check-compliance`: checks whether enough of a day's tasks is done; today then counts. The
    /// limit is 20 a minute.
    public struct CheckCompliance: Endpoint {
        public static let route = Route.post("/v1/streaks/check-compliance")
        public typealias Output = APIResponse<ComplianceCheck>

        /// The day, `YYYY-MM-DD`; today in the user's zone when absent. Checking another day changes nothing.
        public var date: String?

        public init(date: Day? = nil) { self.date = date?.description }

        public func validate(_ form: inout Validation) { form.field("date", .string) { DayText.mistakes(date) } }
    }

    /// The result of a check.
    public struct ComplianceCheck: Codable, Hashable, Sendable {
        /// Whether the day is compliant.
        public var isCompliant: Bool
        /// The user's streak.
        public var streakData: StreakData
        /// The badges that the user has earned since the last check; each appears once.
        public var newlyAwardedBadges: [AwardedBadge]
        private init(derived: Never) { switch derived {} }
    }

    /// The streak in a check's answer. The contract names the first three fields.
    public struct StreakData: Codable, Hashable, Sendable {
        /// The number of compliant days in a row.
        public var currentStreak: Int
        /// The largest number of compliant days in a row so far.
        public var longestStreak: Int
        /// The number of all compliant days.
        public var totalCompliantDays: Int
        /// The streak's id.
        public var id: Streak.ID? = nil
        /// The user.
        public var userId: User.ID? = nil
        /// The last compliant day.
        @DayOrEmpty public var lastCompliantDate: Day? = nil
        /// The time at which the streak was created.
        public var createdAt: Timestamp? = nil
        /// The time of the last change.
        public var updatedAt: Timestamp? = nil
        private init(derived: Never) { switch derived {} }

        public init(_ streak: Streak) {
            self.init(
                currentStreak: streak.currentStreak, longestStreak: streak.longestStreak,
                totalCompliantDays: streak.totalCompliantDays, id: streak.id, userId: streak.userId,
                lastCompliantDate: streak.lastCompliantDate, createdAt: streak.createdAt, updatedAt: streak.updatedAt)
        }
    }

    /// A badge in a check's answer. The contract names the first three fields.
    public struct AwardedBadge: Codable, Hashable, Sendable, Identifiable {
        /// The badge's id.
        public var id: Badge.ID
        /// The type of the badge.
        public var badgeType: BadgeType
        /// The time at which it was earned.
        public var awardedAt: Timestamp
        /// The user.
        public var userId: User.ID? = nil
        /// Reserved; empty at present.
        public var metadata: [String: JSONValue]? = nil
        private init(derived: Never) { switch derived {} }

        /// Makes the same badge as it appears in a check's answer.
        public init(_ badge: Badge) {
            self.init(
                id: badge.id, badgeType: badge.badgeType, awardedAt: badge.awardedAt, userId: badge.userId,
                metadata: badge.metadata)
        }
    }

    /// `GET /v1/streaks/history`: returns every day of a period, ascending. An addition to the contract.
    public struct GetHistory: Endpoint {
        public static let route = Route.get("/v1/streaks/history")
        public typealias Output = APIResponse<History>
        /// The maximum length of the period, in days.
        public static let maximumDays: Int64 = 366

        /// The first day, `YYYY-MM-DD`; 29 days before ``to`` when absent.
        public var from: String?
        /// The last day, `YYYY-MM-DD`; today when absent, or 29 days after ``from``.
        public var to: String?

        public init(from: Day? = nil, to: Day? = nil) {
            self.from = from?.description
            self.to = to?.description
        }

        public func validate(_ form: inout Validation) {
            form.field("from", nil) { DayText.mistakes(from) }
            form.field("to", nil) {
                let mistakes = DayText.mistakes(to)
                guard mistakes.isEmpty, let first = from.flatMap({ Day($0) }), let last = to.flatMap({ Day($0) }) else {
                    return mistakes
                }
                let days = last.daysSince1970 - first.daysSince1970 + 1
                if days < 1 { return ["Date must not be before from"] }
                return days > Self.maximumDays ? ["At most \(Self.maximumDays) days can be asked for"] : []
            }
        }
    }

    /// The days of a period.
    public struct History: Codable, Hashable, Sendable {
        /// The days, ascending.
        public var days: [HistoryDay]
        private init(derived: Never) { switch derived {} }
    }

    /// A day of the history.
    public struct HistoryDay: Codable, Hashable, Sendable {
        /// The day.
        public var date: Day
        /// The number of tasks.
        public var totalTasks: Int
        /// The number of completed tasks.
        public var completedTasks: Int
        /// Whether the day is compliant now.
        public var isCompliant: Bool
        /// Whether the day counts in the streak: it was compliant before it ended.
        public var credited: Bool
        private init(derived: Never) { switch derived {} }
    }

    /// `GET /v1/badges/available`: returns all badges that can be earned. An addition to the contract.
    public struct ListAvailableBadges: Endpoint {
        public static let route = Route.get("/v1/badges/available")
        public typealias Output = APIResponse<AvailableBadges>

        public init() {}
    }

    /// The answer to ``ListAvailableBadges``.
    public struct AvailableBadges: Codable, Hashable, Sendable {
        /// All badges.
        public var badges: [AvailableBadge]
        private init(derived: Never) { switch derived {} }
    }

    /// A badge that can be earned.
    public struct AvailableBadge: Codable, Hashable, Sendable {
        /// The type of the badge.
        public var badgeType: BadgeType
        /// The badge's name for people; so is the description.
        public var name: String
        /// How the badge is earned, for people.
        public var description: String
        /// Whether the caller has earned it.
        public var earned: Bool
        /// The time at which the caller earned it.
        @OrNull public var awardedAt: Timestamp?
        private init(derived: Never) { switch derived {} }
    }
}
