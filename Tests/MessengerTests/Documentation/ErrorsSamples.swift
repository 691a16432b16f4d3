import Foundation
import MessengerClient
import Testbed

// The samples of Errors.md.

enum ErrorsSamples {
    static func send(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID, text: String, show: (String) -> Void,
        showSignIn: () -> Void
    ) async throws {
        let chat = Identified(id)
        // sample
        do {
            try await messenger.send(Messenger.SendMessage(chat: chat.id, content: text))
        } catch is SignedOut {
            showSignIn()
        } catch let error as APIError where error.status == .forbidden {
            show("You cannot write to this chat.")
        } catch let error as APIError {
            show(error.message)
        } catch is URLError {
            show("You are offline. Your message is kept.")
        }
        // end
    }

    static func form(
        chat id: Messenger.Chat.ID, text: String, button: (Bool) -> Void, hint: (String) -> Void
    ) {
        let chat = Identified(id)
        func sendButton(isEnabled: Bool) { button(isEnabled) }
        // sample
        let message = Messenger.SendMessage(chat: chat.id, content: text)
        do {
            try message.validate()
            sendButton(isEnabled: true)
        } catch {
            sendButton(isEnabled: false)
            hint(error.message)
        }
        // end
    }

    static func patient(_ url: URL, store: any TokenStore) -> MessengerClient {
        // sample
        let messenger = MessengerClient(
            baseURL: url, store: store, retry: Retry(attempts: 5, base: .seconds(1), cap: .seconds(30)))
        // end
        return messenger
    }
}
