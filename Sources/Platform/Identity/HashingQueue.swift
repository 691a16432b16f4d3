/// Decides which password hash is computed next.
///
/// Clients that are known to the account precede all others. In each of the two classes the addresses take turns, and
/// each has a limited number of places. So an address that sends endless requests only delays itself.
struct HashingQueue {
    /// Work that waits for a thread, and is notified whether it may begin.
    struct Job: Sendable {
        let id: UInt64
        let client: Passwords.Client
        let run: @Sendable (Verdict) -> Void
    }

    enum Verdict: Sendable {
        case begin
        /// Other jobs have taken its place.
        case overloaded
        case cancelled
    }

    /// The addresses of one class in the order of their turns, with their waiting jobs.
    private struct Line {
        var turns: [String?] = []
        var jobs: [String?: [Job]] = [:]
        var count = 0

        /// - Parameters:
        ///   - room: The number of jobs that may wait in all.
        ///   - places: The number of jobs of one address that may wait.
        /// - Returns: The same as ``HashingQueue/add(_:)``.
        mutating func add(_ job: Job, room: Int, places: Int) -> Job? {
            // Jobs without an address are the server's own, and have no limit of places.
            if let address = job.client.address, jobs[address]?.count ?? 0 >= places { return job }
            var dropped: Job?
            if count >= room {
                dropped = dropNewest(inFavourOf: job.client.address)
                if dropped == nil { return job }
            }
            append(job)
            return dropped
        }

        private mutating func append(_ job: Job) {
            if jobs[job.client.address] == nil { turns.append(job.client.address) }
            jobs[job.client.address, default: []].append(job)
            count += 1
        }

        mutating func popFirst() -> Job? {
            guard let address = turns.first, let job = jobs[address]?.removeFirst() else { return nil }
            turns.removeFirst()
            count -= 1
            if jobs[address]?.isEmpty == true { jobs[address] = nil } else { turns.append(address) }
            return job
        }

        mutating func remove(_ id: UInt64, of address: String?) -> Job? {
            guard let index = jobs[address]?.firstIndex(where: { $0.id == id }) else { return nil }
            let job = jobs[address]?.remove(at: index)
            count -= 1
            if jobs[address]?.isEmpty == true {
                jobs[address] = nil
                turns.removeAll { $0 == address }
            }
            return job
        }

        /// Removes the newest job of the address that waits for the most, if it has at least two more than another
        /// address.
        private mutating func dropNewest(inFavourOf address: String?) -> Job? {
            let longest = jobs.max { $0.value.count < $1.value.count }
            guard let longest, longest.value.count > (jobs[address]?.count ?? 0) + 1, let newest = longest.value.last
            else { return nil }
            return remove(newest.id, of: longest.key)
        }
    }

    /// The number of jobs of each class, including running ones.
    private let capacity: Int
    /// The number of waiting jobs of one address in one class.
    private let places: Int
    private var known = Line()
    private var strangers = Line()
    private var running = 0

    init(threads: Int, limit: Int) {
        capacity = max(1, threads) + max(0, limit)
        places = max(1, limit / 4)
    }

    /// The number of waiting jobs.
    var waiting: Int { known.count + strangers.count }

    /// Adds a job to the queue.
    ///
    /// - Returns: The job to refuse, if any: the new one or another.
    mutating func add(_ job: Job) -> Job? {
        let room = capacity - running
        return job.client.isKnown
            ? known.add(job, room: room, places: places) : strangers.add(job, room: room, places: places)
    }

    /// Takes the next job, which counts as running until ``finish()``.
    mutating func next() -> Job? {
        guard let job = known.popFirst() ?? strangers.popFirst() else { return nil }
        running += 1
        return job
    }

    mutating func finish() { running -= 1 }

    /// Removes a job from the queue; returns nil when it has begun.
    mutating func remove(_ id: UInt64, of client: Passwords.Client) -> Job? {
        client.isKnown ? known.remove(id, of: client.address) : strangers.remove(id, of: client.address)
    }
}
