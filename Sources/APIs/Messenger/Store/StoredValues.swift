import ContractClient
import Foundation
import MessengerAPI

/// A chat as this device knows it.
public struct StoredChat: Hashable, Sendable, Identifiable {
    /// The chat's id.
    public let id: Messenger.Chat.ID
    /// The type of the chat.
    public let type: Messenger.ChatType
    /// The name of a group, or the display name of the other member of a direct chat; nil until that is known.
    public let title: String?
    /// The other user of a direct chat, with their picture. Nil for a group, for a user whose account was deleted, and from a
    /// server that does not tell.
    public let peer: Messenger.ChatPeer?
    /// The time of the newest message, or of the chat's making.
    public let updatedAt: Messenger.Timestamp
    /// The text of the newest message: empty for a file without a caption, nil when there is no message.
    public let lastMessage: String?
    /// The number of messages by others that the user has not read.
    public let unreadCount: Int
    /// The user's muting of the chat, whose messages the user's devices are not notified of; nil for a chat that is not muted.
    public let mute: Messenger.Mute?
}

/// A message as this device knows it. The properties of ``Messenger/Message`` are available on this value, too.
@dynamicMemberLookup
public struct StoredMessage: Hashable, Sendable, Identifiable {
    /// The message, with an edit that is in progress already applied.
    public let message: Messenger.Message
    /// Whether an edit of it has been sent and not been answered yet.
    public let isChanging: Bool
    /// Whether messages between it and the one before it may be missing on this device: ``ChatState/loadOlder()`` reads
    /// them.
    public let followsGap: Bool

    public var id: Messenger.Message.ID { message.id }

    /// Returns a property of the message.
    public subscript<Value>(dynamicMember path: KeyPath<Messenger.Message, Value>) -> Value { message[keyPath: path] }
}

/// A message of the user that the server has not confirmed, or not yet returned with the chat's other messages.
public struct OutgoingMessage: Hashable, Sendable, Identifiable {
    /// How far the message has come.
    public enum State: Hashable, Sendable {
        /// It is sent as soon as there is a connection and the messages before it in the chat are sent.
        case waiting
        /// It is being sent.
        case sending
        /// The server has it, under this id.
        case sent(Messenger.Message.ID)
        /// It will not be sent unless the app retries it, for this reason.
        case failed(OutgoingFailure)
    }

    /// The id on this device, which stays the same between launches.
    public let id: Int64
    /// The chat.
    public let chat: Messenger.Chat.ID
    /// The text, or a file's caption.
    public let content: String
    /// The type of the message.
    public let type: Messenger.MessageType
    /// The name of the message's file; nil for a plain text.
    public let filename: String?
    /// The media type of the message's file.
    public let contentType: String?
    /// The place of the message's file on this device, for showing it, until the message is sent.
    public let location: URL?
    /// The time at which the app handed it over.
    public let createdAt: Date
    /// How far the message has come.
    public let state: State
    /// The part of its file that has been uploaded, from 0 to 1; nil while no upload is in progress.
    public internal(set) var progress: Double?
}

/// The reason for which a message was not sent. It is kept with the message, so an app can show it in a later launch.
public struct OutgoingFailure: ReadableError, Codable, Hashable {
    /// A key for the app's own sentence: that of the error, such as `error.refused.403`, or `error.store.uncertain`.
    public let translationKey: String
    /// An English sentence.
    public let errorDescription: String?
    /// What the user can do, in English.
    public let recoverySuggestion: String?
    /// Whether the message may have arrived nevertheless: its answer was lost, and the server no longer remembers the
    /// message's key. Retrying it may then send it twice.
    public let isUncertain: Bool

    init(_ error: any Error) {
        let readable = error as? any ReadableError
        translationKey = readable?.translationKey ?? "error.store.not-sent"
        errorDescription = readable?.errorDescription ?? "The message could not be sent."
        recoverySuggestion = readable?.recoverySuggestion
        isUncertain = false
    }

    private init(key: String, description: String, suggestion: String, isUncertain: Bool) {
        (translationKey, errorDescription, recoverySuggestion) = (key, description, suggestion)
        self.isUncertain = isUncertain
    }

    static let uncertain = OutgoingFailure(
        key: "error.store.uncertain", description: "It is not certain whether this message was sent.",
        suggestion: "Look whether it has arrived before you send it again.", isUncertain: true)
    static let fileIsGone = OutgoingFailure(
        key: "error.store.file-gone", description: "The file of this message is no longer on this device.",
        suggestion: "Please attach it again.", isUncertain: false)
}

/// The state of a store's connection to the server.
public enum StoreConnection: Sendable {
    /// The first connection is being opened.
    case connecting
    /// Everything arrives as it happens.
    case connected
    /// There is no connection, for this reason. The next attempt is in `retry`.
    case disconnected(reason: any Error, retry: Duration)
    /// The device has no sockets (``SocketsUnavailable``): the list of chats is read once a minute.
    case unavailable
    /// The session has ended, and the store is empty. The app opens another one after the next sign-in.
    case ended
}

/// The progress of a transfer in bytes.
public struct TransferProgress: Hashable, Sendable {
    /// The number of bytes transferred so far.
    public let completed: Int64
    /// The number of bytes in all.
    public let total: Int64

    /// The part that is done, from 0 to 1.
    public var fraction: Double { total > 0 ? Double(completed) / Double(total) : 0 }
}
