import Backend
import Contract
import GTSDAPI

/// Caches answers to lists of tasks for a minute, on this node.
///
/// An answer is valid for one version of its user. Every change raises the version, which each node reads from the
/// database before it uses the cache. So no answer is served after a change, whichever node made it.
final class TaskCache: Sendable {
    /// The parameters of a request.
    struct Query: Hashable, Sendable {
        let user: UserID
        let day: Day
        let limit: Int
        let offset: Int
        let type: GTSD.TaskType?
    }

    private struct Entry: Sendable {
        let answer: GTSD.DayTasks
        let version: Int64
    }

    private let entries: TTLCache<Query, Entry>

    init(time: TimeSource) { entries = TTLCache("tasks", lifetime: 60_000, capacity: 10_000, time: time) }

    func answer(to query: Query, version: Int64) -> GTSD.DayTasks? {
        entries.value(for: query).flatMap { $0.version == version ? $0.answer : nil }
    }

    func store(_ answer: GTSD.DayTasks, to query: Query, version: Int64) {
        entries.insert(Entry(answer: answer, version: version), for: query)
    }
}
