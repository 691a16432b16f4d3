import Foundation
import MessengerClient
import Testbed

// The samples of Notifications.md.

enum NotificationsSamples {
    static func register(_ messenger: MessengerClient, token: Data) async throws -> Messenger.Device {
        // sample
        let device = try await messenger.registerDevice(token: token, environment: .production)
        // end
        return device
    }

    static func remove(_ device: Messenger.Device, _ messenger: MessengerClient) async throws {
        // sample
        try await messenger.removeDevice(device.id)
        // end
    }

    static func mute(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID, tomorrow: Date, show: (Messenger.Chat.ID) -> Void
    ) async throws {
        let chat = Identified(id)
        // sample
        try await messenger.send(Messenger.MuteChat(chat: chat.id, until: .init(tomorrow)))
        for try await chat in messenger.chats(including: .muted) where chat.mute != nil { show(chat.id) }
        try await messenger.send(Messenger.UnmuteChat(chat: chat.id))
        // end
    }

    static func open(_ userInfo: [AnyHashable: Any], show: (Messenger.Chat.ID) -> Void) {
        // sample
        guard let push = MessengerPush(userInfo: userInfo) else { return }
        show(push.chat)
        // end
    }

    static func fill(url: URL, _ userInfo: [AnyHashable: Any]) async throws -> MessengerNotification? {
        // sample
        func notification(for userInfo: [AnyHashable: Any]) async throws -> MessengerNotification? {
            let messenger = MessengerClient(
                baseURL: url,
                store: KeychainTokenStore(service: "messenger", accessGroup: "TEAM123456.com.example.messenger"))
            guard let push = MessengerPush(userInfo: userInfo) else { return nil }
            return try await messenger.notification(for: push)
        }
        // end
        return try await notification(for: userInfo)
    }
}
