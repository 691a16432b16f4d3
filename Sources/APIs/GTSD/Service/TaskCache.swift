import GTSDAPI
import NIOConcurrencyHelpers

/// Answers to lists of tasks, each for a minute on the node that made it.
///
/// An answer holds for the version of its person that it was made from. Every change makes another version, which each
/// node reads from the database before it looks here; so none is served after a change, wherever that was made.
final class TaskCache: Sendable {
    /// In milliseconds.
    static let lifetime: Int64 = 60_000

    /// What was asked for.
    struct Query: Hashable, Sendable {
        let user: Int64
        let day: Int64
        let limit: Int
        let offset: Int
        let type: GTSD.TaskType?
    }

    private struct Entry: Sendable {
        let answer: GTSD.DayTasks
        let version: Int64
        let madeAt: Int64
    }

    private let capacity: Int
    private let entries = NIOLockedValueBox<[Query: Entry]>([:])

    /// - Parameter capacity: So many are kept; when there are more, all are forgotten.
    init(capacity: Int = 10_000) { self.capacity = capacity }

    func answer(to query: Query, version: Int64, at now: Int64) -> GTSD.DayTasks? {
        guard let entry = entries.withLockedValue({ $0[query] }), entry.version == version,
            0..<Self.lifetime ~= now - entry.madeAt
        else { return nil }
        return entry.answer
    }

    func keep(_ answer: GTSD.DayTasks, to query: Query, version: Int64, at now: Int64) {
        entries.withLockedValue { entries in
            if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
            entries[query] = Entry(answer: answer, version: version, madeAt: now)
        }
    }
}
