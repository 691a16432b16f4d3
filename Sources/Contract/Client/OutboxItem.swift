import Contract
import Foundation

/// Something that waits in a `DurableOutbox` until the server has it.
public struct OutboxItem<Content: Sendable>: Identifiable, Sendable {
    /// The item's name on this device, which stays the same between launches.
    public let id: OutboxItemID
    /// The content that is to be sent.
    public let content: Content
    /// The copies of its files.
    public let files: [OutboxFile]
    /// The time at which the app handed it over.
    public let createdAt: Date
    /// How far it has come.
    public let state: OutboxState
}

/// The name of an item on this device.
public struct OutboxItemID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The name of the item's folder.
    let name: String

    public var description: String { name }
}

/// A file that waits with its item. The outbox has copied it, so the app may delete the original.
public struct OutboxFile: Hashable, Sendable {
    /// The name that others will see.
    public let filename: String
    /// The media type.
    public let contentType: String
    /// The size in bytes.
    public let size: Int64
    /// The place of the copy, for showing it. It is there until the item is sent or discarded.
    public let location: URL
}

/// How far an item of an outbox has come.
public enum OutboxState: Hashable, Sendable {
    /// It is sent as soon as there is a network and the items before it are sent.
    case waiting
    /// It is being sent.
    ///
    /// - Parameter progress: The part of its files that has been uploaded, from 0 to 1; nil while none is.
    case sending(progress: Double?)
    /// The server has it. The item is no longer in the outbox.
    case sent
    /// It will not be sent unless the app retries it, for this reason.
    case failed(OutboxFailure)
}

/// The reason for which an item was not sent. It is kept with the item, so an app can show it in a later launch.
public struct OutboxFailure: ReadableError, Codable, Hashable {
    /// The kinds of reasons.
    public enum Reason: Codable, Hashable, Sendable {
        /// The server refused it, with this status, and would refuse a repeat.
        case refused(status: Int)
        /// The item may have arrived nevertheless: its answer was lost, and the server no longer remembers the item's key.
        /// Retrying it may then send it twice.
        case uncertain
        /// The copy of one of its files is not there any more.
        case fileIsGone
    }

    /// The kind of reason.
    public let reason: Reason
    /// A key for the app's own sentence: that of the error, such as `error.refused.403`, or `error.outbox.uncertain`.
    public let translationKey: String
    /// An English sentence: the server's own message if there is one.
    public let errorDescription: String?
    /// An English sentence about what the user can do.
    public let recoverySuggestion: String?

    /// Creates a failure of an item that the server refuses.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - error: The error, for its sentences.
    public init(status: Int, _ error: any ReadableError) {
        reason = .refused(status: status)
        translationKey = error.translationKey
        errorDescription = error.errorDescription
        recoverySuggestion = error.recoverySuggestion
    }

    private init(_ reason: Reason, key: String, description: String, suggestion: String) {
        self.reason = reason
        (translationKey, errorDescription, recoverySuggestion) = (key, description, suggestion)
    }

    static let uncertain = OutboxFailure(
        .uncertain, key: "error.outbox.uncertain", description: "It is not certain whether this was sent.",
        suggestion: "Look whether it has arrived before you send it again.")
    static let fileIsGone = OutboxFailure(
        .fileIsGone, key: "error.outbox.file-gone", description: "A file of this entry is no longer on this device.",
        suggestion: "Please attach it again.")
}

/// A change in an outbox.
public enum OutboxChange<Content: Sendable>: Sendable {
    /// An item is new, or its state has changed. One that is ``OutboxState/sent`` has left the outbox.
    case changed(OutboxItem<Content>)
    /// An item has left the outbox without being sent by it: it was discarded, or the user has signed out, or another
    /// process of the app has sent it.
    case removed(OutboxItemID)
    /// The files of an item cannot be read and were set aside.
    case damaged(OutboxDamage)
}

/// An item whose files cannot be read. They were moved to a folder `damaged` beside the others, where they stay until the user
/// signs out: some of them may be recovered by hand, or by a newer version of the app.
public struct OutboxDamage: Hashable, Sendable {
    /// The place of the item's files.
    public let location: URL
    /// What could not be read, for a developer.
    public let reason: String
}

/// The bounds of an outbox.
public struct OutboxLimits: Hashable, Sendable {
    /// The number of items that may wait.
    public var items: Int
    /// The number of bytes that they may take on the disk, with their files.
    public var bytes: Int64

    public init(items: Int = 1000, bytes: Int64 = 500_000_000) {
        self.items = items
        self.bytes = bytes
    }

    /// 1,000 items and 500 MB.
    public static let standard = OutboxLimits()
}

/// An outbox has no room for another item.
public struct OutboxFull: ReadableError, Hashable {
    /// The bounds of the outbox.
    public let limits: OutboxLimits

    public init(limits: OutboxLimits) { self.limits = limits }

    public var translationKey: String { "error.outbox.full" }
    public var errorDescription: String? { "Too much is waiting to be sent." }
    public var recoverySuggestion: String? { "Please try again when you have been online for a while." }
}

/// One attempt to send an item, as the function that sends it sees it.
public struct OutboxDelivery<Content: Sendable>: Sendable {
    /// The content that is to be sent.
    public let content: Content
    /// The `Idempotency-Key`. It is on the disk before the first attempt, and the same for each.
    public let key: String
    /// The copies of its files.
    public let files: [Upload]
    /// The time at which the app handed it over.
    public let createdAt: Date
    /// Receives the progress of an upload.
    public let progress: UploadProgress
    /// The value that an earlier attempt has stored with ``remember(_:)``; nil if there is none.
    public let remembered: Data?
    let store: @Sendable (Data?) async throws -> Void

    /// Stores a value with the item, on the disk before this returns, for later attempts in later launches: how far a delivery
    /// of several steps has come.
    public func remember(_ value: Data?) async throws { try await store(value) }
}
