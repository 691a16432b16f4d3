import Foundation

/// Runs work that computes for long on a thread of its own. Tasks have as many threads as the machine has cores, for which
/// those of all other tests would wait.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
