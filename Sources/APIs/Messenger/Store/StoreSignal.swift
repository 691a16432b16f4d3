import ContractClient
import MessengerAPI

/// Notifies one observer of what has changed. Changes that come while it is busy are joined.
package final class StoreSignal: Sendable {
    package enum Change: Hashable, Sendable {
        case list
        case chat(Messenger.Chat.ID)
        case connection
        case files
        /// The store has ended.
        case end
    }

    private struct State {
        var changes: Set<Change> = []
        var observer: AsyncStream<Void>.Continuation?
    }

    private let state = Locked(State())

    func add(_ change: Change) {
        state.use { state in
            state.changes.insert(change)
            state.observer?.yield()
        }
    }

    /// Returns and forgets the changes so far.
    package func take() -> Set<Change> {
        state.use { state in
            defer { state.changes = [] }
            return state.changes
        }
    }

    /// The moments at which there are changes to take.
    package func moments() -> AsyncStream<Void> {
        let (stream, observer) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.use { $0.observer = observer }
        observer.yield()
        return stream
    }
}
