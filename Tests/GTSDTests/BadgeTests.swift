import GTSDClient
import Testbed
import Testing

/// The steps that earn a badge, and steps that just miss it.
struct Feat: Sendable, CustomTestStringConvertible {
    let badge: GTSD.BadgeType
    let earn: @Sendable (Player) async throws -> Void
    let miss: @Sendable (Player) async throws -> Void

    var testDescription: String { badge.rawValue }

    /// A streak of a number of days, and one of a day less.
    private static func streak(_ badge: GTSD.BadgeType, _ days: Int) -> Feat {
        Feat(badge: badge) { player in
            try await player.seed(days - 1)
            try await player.complete([1, 2, 3, 4, 5])
        } miss: { player in
            try await player.seed(days - 2)
            try await player.complete([1, 2, 3, 4, 5])
        }
    }

    /// A number of perfect days, and as many days of which the last lacks a task.
    private static func perfect(_ badge: GTSD.BadgeType, _ days: Int) -> Feat {
        Feat(badge: badge) { player in
            try await player.seed(days - 1, perfect: true)
            try await player.complete([1, 2, 3, 4, 5, 6])
        } miss: { player in
            try await player.seed(days - 1, perfect: true)
            try await player.complete([1, 2, 3, 4, 5])
        }
    }

    /// The same time on seven days in a row, and once too early or too late.
    private static func hours(_ badge: GTSD.BadgeType, _ right: String, _ wrong: String) -> Feat {
        @Sendable func live(_ player: Player, wrongOn day: Int?) async throws {
            for ahead in 0..<7 {
                try await player.go(to: ahead, ahead == day ? wrong : right)
                try await player.complete([2])
            }
        }
        return Feat(badge: badge) {
            try await live($0, wrongOn: nil)
        } miss: {
            try await live($0, wrongOn: 6)
        }
    }

    static let all = [
        Feat(badge: .firstDay) {
            try await $0.complete([1, 2, 3, 4, 5])
        } miss: {
            try await $0.complete([1, 2, 3, 4])
        },
        streak(.weekWarrior, 7), streak(.monthMaster, 30), streak(.quarterChampion, 90), streak(.yearLegend, 365),
        perfect(.perfect10, 10), perfect(.perfect30, 30), perfect(.perfect100, 100),
        Feat(badge: .comeback) { player in
            try await player.complete([1, 2, 3, 4, 5])
            try await player.go(to: 3)
            try await player.complete([1, 2, 3, 4])
        } miss: { player in
            try await player.complete([1, 2, 3, 4, 5])
            try await player.go(to: 4)
            try await player.complete([1, 2, 3, 4])
        },
        hours(.earlyBird, "08:59", "09:00"), hours(.nightOwl, "20:00", "19:59"),
        Feat(badge: .photoProof) { player in
            for ahead in [6, 7, 20, 21] {
                try await player.go(to: ahead)
                try await player.photo()
            }
        } miss: { player in
            // There are three weeks with two photos in the second one, and one more photo after a week without.
            for ahead in [0, 7, 13, 14, 28] {
                try await player.go(to: ahead)
                try await player.photo()
            }
        },
        Feat(badge: .dataDriver) {
            try await $0.metrics(10)
        } miss: {
            try await $0.metrics(9)
        },
        Feat(badge: .allRounder) {
            try await $0.complete([1, 2, 3, 6])
        } miss: { player in
            let tasks = try await player.tasks()
            try await player.complete([1, 2, 3, 4, 5])
            // Monday's photo is taken on Tuesday.
            try await player.go(to: 1)
            try await player.client.send(GTSD.CompleteTask(tasks[5].id))
            try await player.complete([1, 2, 3])
        },
        Feat(badge: .strengthMaster) { player in
            for session in 0..<21 {
                try await player.go(to: session / 3 * 7 + session % 3 * 2)
                try await player.complete([1])
            }
        } miss: { player in
            for session in 0..<24 where session != 10 {
                try await player.go(to: session / 3 * 7 + session % 3 * 2)
                try await player.complete([1])
            }
        },
        Feat(badge: .cardioKing) { player in
            for ahead in 0..<14 {
                try await player.go(to: ahead)
                try await player.complete([2])
            }
        } miss: { player in
            for ahead in 0..<16 {
                try await player.go(to: ahead)
                // On the fourteenth day other tasks are done, but no cardio.
                try await player.complete(ahead == 13 ? [3, 4, 5] : [2])
            }
        },
    ]
}

@Suite(.timeLimit(.minutes(30))) struct BadgeTests {
    @Test(arguments: Stack.Engine.available, Feat.all)
    func isEarned(_ engine: Stack.Engine, _ feat: Feat) async throws {
        try await withGTSD(on: Stack(engine, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            try await feat.earn(player)
            let badges = try await player.badges()
            #expect(badges.filter { $0 == feat.badge }.count == 1, "\(badges)")
        }
    }

    @Test(arguments: Feat.all)
    func isJustMissed(_ feat: Feat) async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            try await feat.miss(player)
            let badges = try await player.badges()
            #expect(!badges.contains(feat.badge), "\(badges)")
        }
    }

    @Test func everyBadgeHasATest() {
        #expect(Set(Feat.all.map(\.badge)).count == 16)
    }

    /// A return after one or two missed days is a comeback; a return after none or three is not.
    @Test(arguments: [(1, false), (2, true), (3, true), (4, false)])
    func comebacks(_ ahead: Int, _ isOne: Bool) async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            try await player.complete([1, 2, 3, 4, 5])
            try await player.go(to: ahead)
            try await player.complete([1, 2, 3, 4])
            let badges = try await player.badges()
            #expect(badges.contains(.comeback) == isOne)
        }
    }

    /// One check reports a badge. The badge stays even if the tasks are undone.
    @Test func badgesAreReportedOnceAndStay() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            try await player.complete([1, 2, 3, 4, 5, 6])
            var told: [[String]] = []
            for _ in 0..<2 {
                let check = try await player.client.send(GTSD.CheckCompliance()).data
                told.append(check.newlyAwardedBadges.map(\.badgeType.rawValue))
            }
            #expect(told == [["first_day", "all_rounder"], []])
            for task in try await player.tasks() { try await player.client.send(GTSD.UncompleteTask(task.id)) }
            let badges = try await player.badges()
            #expect(Set(badges) == [.firstDay, .allRounder])
            // Earning the badge again does not award it twice.
            try await player.complete([1, 2, 3, 4, 5, 6])
            let check = try await player.client.send(GTSD.CheckCompliance()).data
            #expect(check.newlyAwardedBadges == [])
        }
    }

    /// A day counts as perfect only while all its tasks are done.
    @Test func aPerfectDayMayBeUndone() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: "2025-10-27T06:00:00Z")) { host in
            let player = try await Player.begin(on: host)
            try await player.seed(8, perfect: true)
            try await player.complete([1, 2, 3, 4, 5, 6])
            let task = try await player.tasks()[1].id
            let undone = try await player.client.send(GTSD.UncompleteTask(task)).data
            // Five of six tasks make a compliant day, but not a perfect one.
            #expect(!undone.streakUpdated)
            try await player.go(to: 1)
            try await player.complete([1, 2, 3, 4, 5])
            #expect(try await player.badges().contains(.perfect10) == false)
            try await player.go(to: 2)
            try await player.complete([1, 2, 3, 4, 5])
            #expect(try await player.badges().contains(.perfect10))
        }
    }

    /// The percentages are those of 1, 2, 3, 5 and 16 badges.
    @Test func completionIsRoundedHalfUp() async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            let player = try await Player.begin(on: host)
            let user = Int64(player.user.id.rawValue) ?? 0
            var percentages: [Int] = []
            for count in 1...16 {
                try await host.database.write { db in
                    try db.run("INSERT INTO badges (user_id, type, awarded_at) VALUES (\(user), \("b\(count)"), 0)")
                }
                percentages.append(try await player.client.send(GTSD.ListBadges()).data.completionPercentage)
            }
            #expect([1, 2, 3, 5, 16].map { percentages[$0 - 1] } == [6, 13, 19, 31, 100])
        }
    }
}
