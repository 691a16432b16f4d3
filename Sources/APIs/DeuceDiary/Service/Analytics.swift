import Contract
import ContractServer
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func analytics(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(use: getMostDeuces)
    }

    func getMostDeuces(
        _ request: DeuceDiary.GetMostDeuces, from caller: Caller
    ) async throws -> DeuceDiary.MostDeuces {
        .init(topDay: try await database.read(from: .replica) { try Days.top(of: caller.user, in: $0) })
    }
}

enum Days {
    static let length: Int64 = 86_400_000

    /// Adds a log to the count of its day.
    static func count(_ time: DeuceDiary.Timestamp, of user: DeuceDiary.User.ID, in db: Session) throws {
        try db.run(
            """
            INSERT INTO days (user_id, day, logs) VALUES (\(user), \(day(of: time)), 1)
            ON CONFLICT (user_id, day) DO UPDATE SET logs = days.logs + 1
            """)
    }

    static func day(of time: DeuceDiary.Timestamp) -> Int64 { time.milliseconds / length }

    /// Removes logs from the count of a day.
    static func decrement(_ logs: Int, on day: Int64, of user: DeuceDiary.User.ID, in db: Session) throws {
        try db.run("UPDATE days SET logs = logs - \(logs) WHERE user_id = \(user) AND day = \(day)")
        try db.run("DELETE FROM days WHERE user_id = \(user) AND day = \(day) AND logs <= 0")
    }

    static func top(of user: DeuceDiary.User.ID, in db: Session) throws -> DeuceDiary.TopDay? {
        try db.one(topQuery(of: user)) { row in
            .init(date: try row.get(0), count: try row.get(1))
        }
    }

    static func topQuery(of user: DeuceDiary.User.ID) -> SQL {
        "SELECT day, logs FROM days WHERE user_id = \(user) ORDER BY logs DESC, day DESC LIMIT 1"
    }
}

extension DeuceDiary.TopDay {
    /// Makes a top day; nil when one of the values is missing.
    init?(day: Day?, logs: Int?) {
        guard let day, let logs else { return nil }
        self.init(date: day, count: logs)
    }
}
