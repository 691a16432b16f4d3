import Contract
import ContractClient
import DeuceDiaryAPI
import Foundation

/// The logs of an account that the server does not have yet. ``DeuceDiaryClient/outbox(of:in:limits:)`` opens it.
public typealias DeuceDiaryOutbox = DurableOutbox<DeuceDiary.LogDeuce>

extension DeuceDiaryClient {
    /// Opens the outbox of the signed-in user, and begins to send what waits in it. Keep one for as long as the user is signed
    /// in, and call ``DurableOutbox/wipe()`` when the user signs out.
    ///
    /// - Parameters:
    ///   - user: The signed-in user. While another one is signed in, nothing is sent. Only a JSON Web Token
    ///     says whose it is: an app with other tokens closes the outbox itself.
    ///   - folder: A folder for the outboxes of this server. It need not exist.
    ///   - limits: The bounds of the outbox.
    /// - Throws: The disk's error.
    public func outbox(
        of user: DeuceDiary.User.ID, in folder: URL, limits: OutboxLimits = .standard
    ) async throws -> DeuceDiaryOutbox {
        var settings = outboxSettings(of: user)
        settings.limits = limits
        return try await open(of: user, in: folder, settings: settings)
    }

    /// Opens an outbox with other settings.
    package func open(
        of user: DeuceDiary.User.ID, in folder: URL, settings: OutboxSettings<DeuceDiary.LogDeuce>,
        pacing: LiveConnection.Pacing = .standard
    ) async throws -> DeuceDiaryOutbox {
        let outbox = try await DeuceDiaryOutbox.open(
            of: user.rawValue, in: folder, settings: settings, pacing: pacing)
        outboxes.add(outbox)
        return outbox
    }

    package func outboxSettings(of user: DeuceDiary.User.ID) -> OutboxSettings<DeuceDiary.LogDeuce> {
        // The outbox repeats by itself.
        let client = Client<DeuceDiary>(
            baseURL: baseURL, transport: transport,
            credentials: TokenProvider(user: user.rawValue, provide: token), retry: .never)
        // An hour less than the server's: clocks differ.
        return .init(
            keyLifetime: { _ in .seconds((DeuceDiary.LogDeuce.route.keyHours - 1) * 3600) },
            deliver: { try await client.send($0.content, idempotencyKey: $0.key) })
    }
}

extension DurableOutbox where Content == DeuceDiary.LogDeuce {
    /// Logs as soon as there is a network, with the present time as ``DeuceDiary/LogDeuce/loggedAt`` unless the entry has one.
    ///
    /// - Returns: The entry as it waits. It is on the disk.
    /// - Throws: ``APIError`` for an entry that the server would refuse, ``OutboxFull``, the disk's error.
    @discardableResult
    public func log(_ entry: DeuceDiary.LogDeuce) throws -> OutboxItem<DeuceDiary.LogDeuce> {
        do { try entry.validate() } catch { throw APIError(error) }
        var entry = entry
        let now = settings.now()
        if entry.loggedAt == nil { entry.loggedAt = .init(now) }
        return try add(entry, createdAt: now)
    }
}
