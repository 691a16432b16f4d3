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

    static func open(_ userInfo: [AnyHashable: Any], show: (Messenger.Chat.ID) -> Void) {
        // sample
        guard let push = MessengerPush(userInfo: userInfo) else { return }
        show(push.chat)
        // end
    }

    static func fill(url: URL, _ userInfo: [AnyHashable: Any]) async throws -> MessengerNotification? {
        // sample
        let messenger = MessengerClient(
            baseURL: url,
            store: KeychainTokenStore(service: "messenger", accessGroup: "TEAM123456.com.example.messenger"))
        guard let push = MessengerPush(userInfo: userInfo) else { return nil }
        let notification = try await messenger.notification(for: push)
        // end
        return notification
    }
}
