/// Who waits for a hash, and who is next.
///
/// Clients that are known to the account they sign in to come before all others. Within either class the addresses take
/// turns, and each has only so many places: one that asks without end waits behind itself, and nobody else does.
struct HashingQueue {
    /// Work that waits for a thread. It is told whether it may begin.
    struct Job: Sendable {
        let id: UInt64
        let client: Passwords.Client
        let run: @Sendable (Verdict) -> Void
    }

    enum Verdict: Sendable {
        case begin
        /// Others have taken its place.
        case overloaded
        case cancelled
    }

    /// Of one class, the addresses in the order of their turns, each with what waits for it.
    private struct Line {
        var turns: [String?] = []
        var jobs: [String?: [Job]] = [:]
        var count = 0

        /// - Parameters:
        ///   - room: For so many there is room in all.
        ///   - places: And of one address for so many.
        /// - Returns: As ``HashingQueue/add(_:)``.
        mutating func add(_ job: Job, room: Int, places: Int) -> Job? {
            // What is not asked for from an address is the server's own.
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

        /// The newest of the address that waits for the most, if that are two more than for another address.
        private mutating func dropNewest(inFavourOf address: String?) -> Job? {
            let longest = jobs.max { $0.value.count < $1.value.count }
            guard let longest, longest.value.count > (jobs[address]?.count ?? 0) + 1, let newest = longest.value.last
            else { return nil }
            return remove(newest.id, of: longest.key)
        }
    }

    /// Of each class, with what runs.
    private let capacity: Int
    /// Of one address in one class, waiting.
    private let places: Int
    private var known = Line()
    private var strangers = Line()
    private var running = 0

    init(threads: Int, limit: Int) {
        capacity = max(1, threads) + max(0, limit)
        places = max(1, limit / 4)
    }

    /// How many wait.
    var waiting: Int { known.count + strangers.count }

    /// Puts a job in line.
    ///
    /// - Returns: What has to go: nothing, the job itself, or another one.
    mutating func add(_ job: Job) -> Job? {
        let room = capacity - running
        return job.client.isKnown
            ? known.add(job, room: room, places: places) : strangers.add(job, room: room, places: places)
    }

    /// Takes the job that is next, which is running from now on until ``finish()``.
    mutating func next() -> Job? {
        guard let job = known.popFirst() ?? strangers.popFirst() else { return nil }
        running += 1
        return job
    }

    mutating func finish() { running -= 1 }

    /// Takes a job out of the line; nil when it has begun.
    mutating func remove(_ id: UInt64, of client: Passwords.Client) -> Job? {
        client.isKnown ? known.remove(id, of: client.address) : strangers.remove(id, of: client.address)
    }
}
