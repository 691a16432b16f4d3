import Backend
import GTSDAPI

/// Answers to lists of tasks, each for a minute on the node that made it.
///
/// An answer is good for one version of its user. Every change makes another version, which each node reads from the
/// database before it looks here; so none is served after a change, wherever that was made.
final class TaskCache: Sendable {
    /// What was asked for.
    struct Query: Hashable, Sendable {
        let user: UserID
        let day: Int64
        let limit: Int
        let offset: Int
        let type: GTSD.TaskType?
    }

    private struct Entry: Sendable {
        let answer: GTSD.DayTasks
        let version: Int64
    }

    private let entries: TTLCache<Query, Entry>

    init(time: TimeSource) { entries = TTLCache(lifetime: 60_000, capacity: 10_000, time: time) }

    func answer(to query: Query, version: Int64) -> GTSD.DayTasks? {
        entries.value(for: query).flatMap { $0.version == version ? $0.answer : nil }
    }

    func keep(_ answer: GTSD.DayTasks, to query: Query, version: Int64) {
        entries.insert(Entry(answer: answer, version: version), for: query)
    }
}
