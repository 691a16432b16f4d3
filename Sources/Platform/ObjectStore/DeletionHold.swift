import NIOConcurrencyHelpers

/// Remembers the objects that are deleted while a backup needs them. They are in the trash meanwhile.
final class DeletionHold: Sendable {
    /// A place in the trash.
    struct Kept: Sendable {
        let key: ObjectKey
        let day: String
    }

    private struct State {
        var holders = 0
        var kept: [Kept] = []
    }

    private let state = NIOLockedValueBox(State())

    var isActive: Bool { state.withLockedValue { $0.holders > 0 } }

    /// Notes an object that is moved to the trash instead of being deleted. Returns false when no backup runs.
    func note(_ key: ObjectKey, day: String) -> Bool {
        state.withLockedValue { state in
            guard state.holders > 0 else { return false }
            state.kept.append(Kept(key: key, day: day))
            return true
        }
    }

    /// Runs a closure, and then passes on what was kept for it, unless another closure still needs it.
    func whileHeld<T>(
        _ body: () async throws -> T, releasing: (Kept) async throws -> Void
    ) async throws -> T {
        state.withLockedValue { $0.holders += 1 }
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        let kept = state.withLockedValue { state -> [Kept] in
            state.holders -= 1
            guard state.holders == 0 else { return [] }
            defer { state.kept = [] }
            return state.kept
        }
        // What cannot be removed now leaves the trash with everything else of its day.
        for object in kept { try? await releasing(object) }
        return try result.get()
    }
}

extension ObjectStore {
    public func keepingDeleted<T>(_ body: () async throws -> T) async throws -> T { try await body() }

    public func openKept(_ key: ObjectKey) async throws -> StoredObject? {
        guard let attributes = try await attributes(of: key),
            let content = try await open(key, in: 0..<attributes.size)
        else { return nil }
        return StoredObject(attributes: attributes, content: content)
    }
}

/// An object that is open for reading from its beginning to its end.
public struct StoredObject: Sendable {
    public let attributes: ObjectAttributes
    public let content: ObjectContent

    public init(attributes: ObjectAttributes, content: ObjectContent) {
        self.attributes = attributes
        self.content = content
    }
}
