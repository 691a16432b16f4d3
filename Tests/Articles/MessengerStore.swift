// What an app has when it begins with MessengerStore's articles: an account, its files, and its screens.

import Foundation
import MessengerClient
import MessengerStore

@MainActor func articles(
    url: URL, name: String, password: String, messenger: MessengerClient, folder: URL, photo: URL, token: Data,
    tomorrow: Date, userInfo: [AnyHashable: Any],
    // What the user sees or has chosen.
    id: Messenger.Chat.ID, file: Messenger.File
) async throws {
    @Sendable func show(_ values: Any?...) {}
    // articles
}
