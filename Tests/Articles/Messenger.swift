// What an app has when it begins with MessengerClient's articles: its files, the texts of its forms, and its screens.

import Foundation
import MessengerMocks
import Testing

func articles(
    url: URL, password: String, newPassword: String, address: String, code: String, text: String, photo: URL,
    recording: [UInt8], destination: URL, token: Data,
    tomorrow: Date, userInfo: [AnyHashable: Any], store: any TokenStore, lastRead: Messenger.Message.ID,
    // What the user sees or has chosen.
    newest: Messenger.Message, message: Messenger.Message
) async throws {
    @Sendable func show(_ values: Any?...) {}
    func share(_ file: URL) {}
    let place = URL(fileURLWithPath: "archive.zip")
    func show(_ file: URL, named name: String?) {}
    func hint(_ text: String) {}
    func sendButton(isEnabled: Bool) {}
    func showChats(of user: Messenger.User.ID? = nil) {}
    func showSignIn(because reason: SessionEnd? = nil) {}
    // articles
}
