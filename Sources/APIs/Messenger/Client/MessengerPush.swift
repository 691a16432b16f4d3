import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerAPI

#if canImport(UserNotifications) && !os(tvOS)
import UserNotifications
#endif

/// A push notification of a message, as a device receives it: see <doc:Notifications>.
public struct MessengerPush: Hashable, Sendable {
    /// The chat.
    public var chat: Messenger.Chat.ID
    /// The message.
    public var message: Messenger.Message.ID
    /// The user who has sent it.
    public var sender: Messenger.User.ID
    /// The text, cut after about 2,000 characters. Nil where the server's operator sends only ids, and for a file without a
    /// caption.
    public var text: String?

    /// Reads the `userInfo` of a notification; nil for a notification that is not one of Messenger's messages.
    public init?(userInfo: [AnyHashable: Any]) {
        func id(_ name: String) -> Int64? {
            let value = userInfo[name]
            return value as? Int64 ?? (value as? Int).map(Int64.init) ?? (value as? NSNumber)?.int64Value
        }
        guard let chat = id("chat_id"), let message = id("message_id"), let sender = id("sender_id") else {
            return nil
        }
        self.chat = .init(chat)
        self.message = .init(message)
        self.sender = .init(sender)
        let display = userInfo["aps"] as? [AnyHashable: Any]
        text = (display?["alert"] as? [AnyHashable: Any])?["body"] as? String
    }

    #if canImport(UserNotifications) && !os(tvOS)
    /// Reads a notification; nil for one that is not of one of Messenger's messages.
    public init?(_ content: UNNotificationContent) { self.init(userInfo: content.userInfo) }
    #endif
}

/// A message with what a notification shows of it.
public struct MessengerNotification: Hashable, Sendable {
    /// The message.
    public let message: Messenger.Message
    /// The chat, with its members.
    public let chat: Messenger.Chat

    /// The display name of the sender; nil when the sender has left the chat.
    public var title: String? { chat.members.first { $0.id == message.sender }?.displayName }
    /// The name of the group; nil in a direct chat.
    public var subtitle: String? { chat.name }
    /// The text; empty for a file without a caption.
    public var body: String { message.content }
}

extension MessengerClient {
    /// Registers this device for push notifications. Call it at each launch after the user has signed in, with the token
    /// that `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)` receives: the token may have changed, and
    /// the registration ends with the session.
    ///
    /// - Parameters:
    ///   - token: The token as the system hands it over: 1 to 100 bytes.
    ///   - environment: `sandbox` for an app that Xcode has installed, else `production`.
    /// - Returns: The device. Store its id where the user may turn notifications off (``removeDevice(_:)``).
    /// - Throws: ``APIError`` with 400 for an empty token; the errors of ``send(_:idempotencyKey:)``.
    @discardableResult
    public func registerDevice(
        token: Data, environment: Messenger.PushEnvironment
    ) async throws -> Messenger.Device {
        let digits = token.map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }
        return try await send(Messenger.RegisterDevice(token: digits.joined(), environment: environment))
    }

    /// Removes a device, which is no longer notified. A device that is removed already counts as success.
    ///
    /// - Parameter id: The id that ``registerDevice(token:environment:)`` has returned.
    /// - Throws: The errors of ``send(_:idempotencyKey:)``, without 404.
    public func removeDevice(_ id: Messenger.Device.ID) async throws {
        do { try await send(Messenger.RemoveDevice(id: id)) } catch let error as APIError {
            guard error.status == .notFound else { throw error }
        }
    }

    /// Reads the message of a push notification and its chat. A Notification Service Extension calls it where notifications
    /// have only ids, with a client whose `KeychainTokenStore` has the access group that it shares with the app.
    ///
    /// - Returns: Nil when the message has been deleted, or the user is no longer in the chat.
    /// - Throws: The errors of ``send(_:idempotencyKey:)``, without 403 and 404. The extension then shows the notification as
    ///   it came.
    public func notification(for push: MessengerPush) async throws -> MessengerNotification? {
        do {
            async let chat = send(Messenger.GetChat(id: push.chat))
            let page = try await send(
                Messenger.ListMessages(
                    chat: push.chat, limit: 1, before: .init(min(push.message.rawValue, .max - 1) + 1)))
            guard let message = page.first, message.id == push.message else { return nil }
            return MessengerNotification(message: message, chat: try await chat)
        } catch let error as APIError where [.forbidden, .notFound].contains(error.status) {
            return nil
        }
    }
}
