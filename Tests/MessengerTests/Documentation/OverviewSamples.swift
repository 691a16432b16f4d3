import Foundation
import MessengerClient
import Testbed

// The samples of the landing page, of MessengerClient's own documentation and of the README.

enum OverviewSamples {
    static func begin(_ url: URL, then: (MessengerClient, Messenger.SentMessage) -> Void) async throws {
        // sample
        let messenger = MessengerClient(baseURL: url, store: KeychainTokenStore(service: "messenger"))
        try await messenger.signIn(username: "alice", password: "secret123")

        guard let bob = try await messenger.send(Messenger.SearchUsers("bob")).first else { return }
        let chat = try await messenger.send(Messenger.CreateChat.direct(with: bob.id))
        let sent = try await messenger.send(Messenger.SendMessage(chat: chat.id, content: "Hello!"))
        // end
        then(messenger, sent)
    }

    static func readme(
        _ messenger: MessengerClient, chat: Messenger.CreatedChat, sent: Messenger.SentMessage, photo: URL,
        show: (Messenger.Message) -> Void
    ) async throws {
        // sample
        for try await message in messenger.history(of: chat.id) { show(message) }

        let file = try await messenger.upload(Upload(fileAt: photo)) {
            print("\($0) of \($1) bytes")
        }

        let live = messenger.live()
        await live.subscribe(to: chat.id, since: sent.id)
        for try await event in live {
            if case .message(let message) = event { show(message) }
        }
        // end
        _ = file
    }
}
