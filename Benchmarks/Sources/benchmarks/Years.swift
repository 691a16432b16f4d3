import Foundation
import Identity

extension Benchmark {
    static let years = Benchmark(
        name: "years",
        abstract: "GTSD with a year of each of 10,000 people: streaks, badges, tasks, plans and photos, one at a time"
    ) { setting in
        try await setting.onEachEngine { place in
            // The first start creates the tables, and the key of the tokens.
            try place.serve(setting.concord, "gtsd").stop()
            let today = Year.today()
            try place.fill("gtsd", Year.statements(until: today))
            let tasks = try place.numbers("gtsd", Year.openTasks(on: today))
            let tokens = try await Year.tokens(tasks.count, folder: place.folder)
            let server = try place.serve(setting.concord, "gtsd")
            defer { server.stop() }

            // Each user asks once, because requests are limited and answers are cached.
            let everybody = Array(zip(tokens, tasks))
            func get(_ path: String) -> [String] {
                everybody.map { Exchange.request("GET", path, port: server.port, token: $0.0, keepAlive: true) }
            }
            func post(_ path: String, _ body: (_ task: Int) -> String = { _ in "{}" }) -> [String] {
                everybody.map {
                    Exchange.request("POST", path, port: server.port, token: $0.0, body: body($0.1), keepAlive: true)
                }
            }
            let tomorrow = Year.date(of: today + 1)
            let requests = [
                ("with a new token: who am I", get("/auth/me")),
                ("streak", get("/v1/streaks/me")),
                ("badges", get("/v1/badges/me")),
                ("today's tasks", get("/v1/tasks/today")),
                ("today's tasks, cached", get("/v1/tasks/today")),
                ("tomorrow's tasks, made", get("/v1/tasks/today?date=\(tomorrow)")),
                ("50 photos", get("/v1/progress/photos")),
                ("plan, new", post("/v1/plans/generate")),
                ("plan, there", post("/v1/plans/generate")),
                ("evidence for a task", post("/v1/evidence") { Year.evidence(for: $0) }),
                ("compliance", post("/v1/streaks/check-compliance")),
            ]
            let comparison = Comparison(server: server, setting: setting, database: place.database)
            var rows: [Row] = []
            for (title, each) in requests {
                rows += try await comparison.oneByOne(place.name("years") + title, each, aim: 10)
            }
            return rows
        }
    }
}

/// A year of data of many users.
enum Year {
    private static let people = 10_000
    /// The number of users who send requests, including one whose answer the floor gives.
    private static let asking = 3001
    private static let days = 365
    private static let zone = "Europe/Berlin"

    /// Returns the day in all users' time zone, in days since 1970.
    static func today() -> Int {
        let now = Date()
        let offset = TimeZone(identifier: zone)?.secondsFromGMT(for: now) ?? 0
        return (Int(now.timeIntervalSince1970) + offset) / 86_400
    }

    static func date(of day: Int) -> String {
        Date(timeIntervalSince1970: Double(day * 86_400)).formatted(.iso8601.year().month().day())
    }

    /// Returns a query for the last task of a day of each user who sends requests.
    static func openTasks(on day: Int) -> String {
        "SELECT id FROM tasks WHERE user_id <= \(asking) AND day = \(day) AND slot = 5 ORDER BY user_id"
    }

    static func evidence(for task: Int) -> String {
        #"{"taskId":\#(task),"type":"text_log","data":{"text":"Two litres, most of it tea."}}"#
    }

    /// Returns access tokens of the first users, signed with the server's own key and valid as long as the server's: it refuses
    /// those that are valid for longer.
    static func tokens(_ count: Int, folder: String) async throws -> [String] {
        let key = try SecretKeys(folder: folder, environment: [:]).key("gtsd-tokens", variable: "")
        let now = Int64(Date().timeIntervalSince1970)
        let signer = TokenSigner(secret: Secret(key), issuer: "gtsd") { now }
        var tokens: [String] = []
        for person in 1...count {
            let claims = TokenClaims(
                subject: String(person), kind: "access", issuedAt: now, expiresAt: now + 15 * 60, id: "t\(person)",
                session: "s\(person)")
            tokens.append(try await signer.sign(claims))
        }
        return tokens
    }

    /// Returns statements that add the data. Each user has a session, nine credited days of ten, ten badges, five
    /// completed tasks a day, one of them with evidence, and a photo a week. Two of today's tasks are open.
    static func statements(until today: Int) -> [String] {
        let now = Int(Date().timeIntervalSince1970 * 1000)
        let first = today - days + 1
        let badges = [
            "first_day", "week_warrior", "month_master", "perfect_10", "perfect_30", "perfect_100", "comeback",
            "photo_proof", "all_rounder", "cardio_king",
        ]
        return users(people, at: now) + [
            "INSERT INTO streaks (user_id, created_at, updated_at) SELECT id, \(now), \(now) FROM users",
            """
            INSERT INTO profiles (user_id, date_of_birth, gender, goal, weight, target_weight, height, activity,
                dietary_preferences, allergies, meals_per_day)
            SELECT id, 7000, 'male', 'lose_weight', 80, 75, 180, 'moderately_active', '[]', '[]', 3 FROM users
            """,
            """
            \(numbers(days - 1))
            INSERT INTO credits (user_id, day, is_perfect)
            SELECT u.id, \(today) - n.i, 1 FROM users u CROSS JOIN n WHERE (u.id + n.i * 7) % 10 < 9
            """,
            """
            INSERT INTO badges (user_id, type, awarded_at, is_announced)
            SELECT u.id, b.type, \(now), 1 FROM users u
            CROSS JOIN (\(badges.map { "SELECT '\($0)' AS type" }.joined(separator: " UNION ALL "))) b
            """,
            """
            \(numbers(5 * days))
            INSERT INTO tasks (user_id, day, slot, type, title, description, completed_at, completed_day, completed_minute)
            SELECT id, day, slot, CASE slot WHEN 1 THEN 'strength' WHEN 2 THEN 'cardio' ELSE 'nutrition' END,
                'Daily Walk', 'Walk for 20 minutes at a brisk pace.', CASE WHEN is_open THEN NULL ELSE \(now) END,
                CASE WHEN is_open THEN NULL ELSE day END, CASE WHEN is_open THEN NULL ELSE 600 END
            FROM (
                SELECT u.id, \(first) + (n.i - 1) / 5 AS day, 1 + (n.i - 1) % 5 AS slot,
                    n.i > \(5 * days - 2) AS is_open
                FROM users u CROSS JOIN n) AS t
            """,
            """
            INSERT INTO evidence (task_id, user_id, type, data, created_at)
            SELECT id, user_id, 'text_log', '{"text":"Felt good today."}', \(now) FROM tasks WHERE slot = 1
            """,
            photos(52, every: 604_800_000, until: now),
            """
            \(numbers(52))
            INSERT INTO photo_weeks (user_id, week) SELECT u.id, \(today - (today + 3) % 7) - n.i * 7
            FROM users u CROSS JOIN n
            """,
        ]
    }

    /// Returns statements that add users who registered a year ago, each with a session.
    static func users(_ count: Int, at now: Int) -> [String] {
        [
            """
            \(numbers(count))
            INSERT INTO users (email, password, timezone, created_at, updated_at)
            SELECT 'u' || i || '@example.com', 'x', '\(zone)', \(now - days * 86_400_000), \(now) FROM n
            """,
            "INSERT INTO sessions (id, user_id, expires_at) SELECT 's' || id, id, \(now + 604_800_000) FROM users",
        ]
    }

    /// Returns a statement that adds photos of every user, the last of them now, with a number of milliseconds between
    /// them.
    static func photos(_ count: Int, every interval: Int, until now: Int) -> String {
        """
        \(numbers(count))
        INSERT INTO photos (user_id, file_key, file_size, mime_type, width, height, stage, created_at)
        SELECT u.id, 'progress-photos/' || u.id || '/a1b2c3d4-e5f6-4a7b-8c9d-' || (100000000000 + n.i) || '-me.jpg',
            2500000, 'image/jpeg', 3024, 4032, 'during', \(now) - (\(count) - n.i) * CAST(\(interval) AS BIGINT)
        FROM users u CROSS JOIN n
        """
    }

    private static func numbers(_ last: Int) -> String {
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(last))"
    }
}
