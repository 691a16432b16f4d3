import Contract

extension GTSD {
    static let streaks: [any Contract.Endpoint.Type] = [
        GetStreak.self, ListBadges.self, CheckCompliance.self, GetHistory.self, ListAvailableBadges.self,
    ]

    /// Days in a row.
    public struct Streak: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Streak>

        public var id: ID
        public var userId: User.ID
        /// Up to today, or up to yesterday while today may still count.
        public var currentStreak: Int
        public var longestStreak: Int
        public var totalCompliantDays: Int
        /// Nil before the first; on the wire that is an empty text.
        @DayOrEmpty public var lastCompliantDate: Day?
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: ID, userId: User.ID, currentStreak: Int, longestStreak: Int, totalCompliantDays: Int,
            lastCompliantDate: Day?, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.userId = userId
            self.currentStreak = currentStreak
            self.longestStreak = longestStreak
            self.totalCompliantDays = totalCompliantDays
            self.lastCompliantDate = lastCompliantDate
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// How much of a day's tasks is done.
    public struct DayCompliance: Codable, Hashable, Sendable {
        public var date: Day
        /// Four of five, at least.
        public var isCompliant: Bool
        public var tasksCompleted: Int
        public var tasksTotal: Int

        public init(date: Day, isCompliant: Bool, tasksCompleted: Int, tasksTotal: Int) {
            self.date = date
            self.isCompliant = isCompliant
            self.tasksCompleted = tasksCompleted
            self.tasksTotal = tasksTotal
        }
    }

    /// `GET /v1/streaks/me`
    public struct GetStreak: Endpoint {
        public static let route = Route.get("/v1/streaks/me")
        public typealias Output = APIResponse<StreakStatus>

        public init() {}
    }

    /// One's streak, and how today stands.
    public struct StreakStatus: Codable, Hashable, Sendable {
        public var streak: Streak
        /// Nil while today has no tasks.
        @OrNull public var todayCompliance: DayCompliance?
        /// Whether today does not count yet.
        public var canIncrementToday: Bool

        public init(streak: Streak, todayCompliance: DayCompliance?, canIncrementToday: Bool) {
            self.streak = streak
            self.todayCompliance = todayCompliance
            self.canIncrementToday = canIncrementToday
        }
    }

    /// What a badge is for. A newer server may know more than the sixteen of ``ListAvailableBadges``.
    public struct BadgeType: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let firstDay = Self(rawValue: "first_day")
        public static let weekWarrior = Self(rawValue: "week_warrior")
        public static let monthMaster = Self(rawValue: "month_master")
        public static let quarterChampion = Self(rawValue: "quarter_champion")
        public static let yearLegend = Self(rawValue: "year_legend")
        public static let perfect10 = Self(rawValue: "perfect_10")
        public static let perfect30 = Self(rawValue: "perfect_30")
        public static let perfect100 = Self(rawValue: "perfect_100")
        public static let comeback = Self(rawValue: "comeback")
        public static let earlyBird = Self(rawValue: "early_bird")
        public static let nightOwl = Self(rawValue: "night_owl")
        public static let photoProof = Self(rawValue: "photo_proof")
        public static let dataDriver = Self(rawValue: "data_driver")
        public static let allRounder = Self(rawValue: "all_rounder")
        public static let strengthMaster = Self(rawValue: "strength_master")
        public static let cardioKing = Self(rawValue: "cardio_king")
    }

    /// A badge that was earned. It stays.
    public struct Badge: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = TextIdentifier<Badge>

        public var id: ID
        public var userId: User.ID
        public var badgeType: BadgeType
        public var awardedAt: Timestamp
        /// Nothing yet.
        public var metadata: [String: JSONValue]

        public init(
            id: ID, userId: User.ID, badgeType: BadgeType, awardedAt: Timestamp, metadata: [String: JSONValue] = [:]
        ) {
            self.id = id
            self.userId = userId
            self.badgeType = badgeType
            self.awardedAt = awardedAt
            self.metadata = metadata
        }
    }

    /// `GET /v1/badges/me`: one's own, the newest first.
    public struct ListBadges: Endpoint {
        public static let route = Route.get("/v1/badges/me")
        public typealias Output = APIResponse<EarnedBadges>

        public init() {}
    }

    /// One's badges, and how many there could be.
    public struct EarnedBadges: Codable, Hashable, Sendable {
        public var badges: [Badge]
        public var totalBadges: Int
        public var totalAvailable: Int
        /// Rounded half up.
        public var completionPercentage: Int

        public init(badges: [Badge], totalBadges: Int, totalAvailable: Int, completionPercentage: Int) {
            self.badges = badges
            self.totalBadges = totalBadges
            self.totalAvailable = totalAvailable
            self.completionPercentage = completionPercentage
        }
    }

    /// `POST /v1/streaks/check-compliance`: whether enough of a day's tasks is done. Today then counts. 20 a minute.
    public struct CheckCompliance: Endpoint {
        public static let route = Route.post("/v1/streaks/check-compliance")
        public typealias Output = APIResponse<ComplianceCheck>

        /// `YYYY-MM-DD`; today in the user's zone when absent. Checking another day changes nothing.
        public var date: String?

        public init(date: Day? = nil) { self.date = date?.description }

        public func judge(_ form: inout Validation) { form.field("date", .string) { DayText.mistakes(date) } }
    }

    /// What a check found.
    public struct ComplianceCheck: Codable, Hashable, Sendable {
        public var isCompliant: Bool
        public var streakData: StreakData
        /// Each is told once.
        public var newlyAwardedBadges: [AwardedBadge]

        public init(isCompliant: Bool, streakData: StreakData, newlyAwardedBadges: [AwardedBadge]) {
            self.isCompliant = isCompliant
            self.streakData = streakData
            self.newlyAwardedBadges = newlyAwardedBadges
        }
    }

    /// A streak in a check's answer, of which the contract names the first three.
    public struct StreakData: Codable, Hashable, Sendable {
        public var currentStreak: Int
        public var longestStreak: Int
        public var totalCompliantDays: Int
        public var id: Streak.ID?
        public var userId: User.ID?
        @DayOrEmpty public var lastCompliantDate: Day?
        public var createdAt: Timestamp?
        public var updatedAt: Timestamp?

        public init(
            currentStreak: Int, longestStreak: Int, totalCompliantDays: Int, id: Streak.ID? = nil,
            userId: User.ID? = nil, lastCompliantDate: Day? = nil, createdAt: Timestamp? = nil,
            updatedAt: Timestamp? = nil
        ) {
            self.currentStreak = currentStreak
            self.longestStreak = longestStreak
            self.totalCompliantDays = totalCompliantDays
            self.id = id
            self.userId = userId
            self.lastCompliantDate = lastCompliantDate
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public init(_ streak: Streak) {
            self.init(
                currentStreak: streak.currentStreak, longestStreak: streak.longestStreak,
                totalCompliantDays: streak.totalCompliantDays, id: streak.id, userId: streak.userId,
                lastCompliantDate: streak.lastCompliantDate, createdAt: streak.createdAt, updatedAt: streak.updatedAt)
        }
    }

    /// A badge in a check's answer, of which the contract names the first three.
    public struct AwardedBadge: Codable, Hashable, Sendable, Identifiable {
        public var id: Badge.ID
        public var badgeType: BadgeType
        public var awardedAt: Timestamp
        public var userId: User.ID?
        public var metadata: [String: JSONValue]?

        public init(
            id: Badge.ID, badgeType: BadgeType, awardedAt: Timestamp, userId: User.ID? = nil,
            metadata: [String: JSONValue]? = nil
        ) {
            self.id = id
            self.badgeType = badgeType
            self.awardedAt = awardedAt
            self.userId = userId
            self.metadata = metadata
        }

        public init(_ badge: Badge) {
            self.init(
                id: badge.id, badgeType: badge.badgeType, awardedAt: badge.awardedAt, userId: badge.userId,
                metadata: badge.metadata)
        }
    }

    /// `GET /v1/streaks/history`: every day of a stretch, ascending. An addition to the contract.
    public struct GetHistory: Endpoint {
        public static let route = Route.get("/v1/streaks/history")
        public typealias Output = APIResponse<History>
        public static let maximumDays: Int64 = 366

        /// `YYYY-MM-DD`; 29 days before ``to`` when absent.
        public var from: String?
        /// `YYYY-MM-DD`; today when absent, or 29 days after ``from``.
        public var to: String?

        public init(from: Day? = nil, to: Day? = nil) {
            self.from = from?.description
            self.to = to?.description
        }

        public func judge(_ form: inout Validation) {
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

    /// Days, one after the other.
    public struct History: Codable, Hashable, Sendable {
        public var days: [HistoryDay]

        public init(days: [HistoryDay]) { self.days = days }
    }

    public struct HistoryDay: Codable, Hashable, Sendable {
        public var date: Day
        public var totalTasks: Int
        public var completedTasks: Int
        /// As it is now.
        public var isCompliant: Bool
        /// Whether it counts: it was compliant while it lasted.
        public var credited: Bool

        public init(date: Day, totalTasks: Int, completedTasks: Int, isCompliant: Bool, credited: Bool) {
            self.date = date
            self.totalTasks = totalTasks
            self.completedTasks = completedTasks
            self.isCompliant = isCompliant
            self.credited = credited
        }
    }

    /// `GET /v1/badges/available`: all there are. An addition to the contract.
    public struct ListAvailableBadges: Endpoint {
        public static let route = Route.get("/v1/badges/available")
        public typealias Output = APIResponse<AvailableBadges>

        public init() {}
    }

    public struct AvailableBadges: Codable, Hashable, Sendable {
        public var badges: [AvailableBadge]

        public init(badges: [AvailableBadge]) { self.badges = badges }
    }

    public struct AvailableBadge: Codable, Hashable, Sendable {
        public var badgeType: BadgeType
        /// For people, as the next.
        public var name: String
        public var description: String
        public var earned: Bool
        @OrNull public var awardedAt: Timestamp?

        public init(badgeType: BadgeType, name: String, description: String, earned: Bool, awardedAt: Timestamp?) {
            self.badgeType = badgeType
            self.name = name
            self.description = description
            self.earned = earned
            self.awardedAt = awardedAt
        }
    }
}

/// A day that is written as an empty text where there is none.
@propertyWrapper
public struct DayOrEmpty: Codable, Hashable, Sendable {
    public var wrappedValue: Day?

    public init(wrappedValue: Day?) { self.wrappedValue = wrappedValue }

    /// Null is taken for it, too.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let isNone = try container.decodeNil() || container.decode(String.self).isEmpty
        wrappedValue = isNone ? nil : try container.decode(Day.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue?.description ?? "")
    }
}

extension KeyedDecodingContainer {
    /// Takes an absent key for none.
    public func decode(_: DayOrEmpty.Type, forKey key: Key) throws -> DayOrEmpty {
        try decodeIfPresent(DayOrEmpty.self, forKey: key) ?? DayOrEmpty(wrappedValue: nil)
    }
}
