/// Limits how many tests use a server at once. All tests start together; without this, hundreds of servers would share
/// two cores, and time-outs that are generous for one would be short for each.
actor Slots {
    static let servers = Slots(6)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    nonisolated func use<T>(_ body: () async throws -> T) async throws -> T {
        await take()
        do {
            let result = try await body()
            await give()
            return result
        } catch {
            await give()
            throw error
        }
    }

    private func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func give() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
