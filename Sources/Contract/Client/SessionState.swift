/// The state of an account's session on this device.
public enum SessionState: Hashable, Sendable {
    /// No user is signed in: none has signed in yet, or the user has signed out.
    case signedOut
    /// A user is signed in.
    ///
    /// - Parameter user: The user's id, as the API writes it; nil where a session does not tell, such as Dunbar's.
    case signedIn(user: String?)
    /// A user is signed in, and the access token is being renewed.
    case renewing(user: String?)
    /// The session has ended although the user has not signed out.
    case ended(SessionEnd)
}

/// The reason for which a session has ended although the user has not signed out.
public enum SessionEnd: Hashable, Sendable {
    /// The server has refused the session: it has expired or was ended on another device, the password has changed, or
    /// the account is deleted.
    case refused
    /// The app or one of its extensions has signed in as another user.
    case replaced
}

/// The newest value of something that changes, for any number of observers.
final class Latest<Value: Hashable & Sendable>: Sendable {
    private struct State {
        var value: Value?
        var observers: [Int: AsyncStream<Value>.Continuation] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    /// Sets the value. Observers are told when it differs from the one before.
    func set(_ value: Value) {
        state.use { state in
            guard state.value != value else { return }
            state.value = value
            for observer in state.observers.values { observer.yield(value) }
        }
    }

    /// Returns the present value, as soon as there is one, and every later one. An observer that falls behind by more
    /// than 16 values misses the oldest.
    func values() -> AsyncStream<Value> {
        let (stream, observer) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(16))
        let id = state.use { state in
            state.nextID += 1
            state.observers[state.nextID] = observer
            if let value = state.value { observer.yield(value) }
            return state.nextID
        }
        observer.onTermination = { [weak self] _ in
            self?.state.use { _ = $0.observers.removeValue(forKey: id) }
        }
        return stream
    }
}
