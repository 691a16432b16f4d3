import Foundation
import MessengerStore
import SwiftUI

/// An app of three screens over a store: signing in, the chats, a chat with pictures. XcodeGen makes its project of
/// `project.yml`.
@main struct ChatApp: App {
    @State private var account = Account()

    var body: some Scene {
        WindowGroup {
            if let store = account.store {
                ChatListView(store: store) { Task { await account.signOut() } }
            } else {
                SignInView(account: account)
            }
        }
    }
}

/// The session of the app, and the store that belongs to it.
@MainActor @Observable final class Account {
    private(set) var store: MessengerStore?
    private(set) var problem: String?

    private let messenger = MessengerClient(
        baseURL: URL(string: "http://127.0.0.1:8080")!, store: KeychainTokenStore(service: "chat"))

    /// The folder of the store, which the system does not empty.
    private var folder: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
            .appendingPathComponent("chat")
    }

    /// Opens the store of the user who is signed in, if there is one.
    func resume() async {
        store = try? await MessengerStore.open(messenger, in: folder)
        await forgetWhenItEnds()
    }

    func signIn(_ username: String, _ password: String) async {
        do {
            try await messenger.signIn(username: username, password: password)
            problem = nil
            await resume()
        } catch {
            problem = error.localizedDescription
        }
    }

    func signOut() async {
        // Without a network the session ends on this device alone.
        try? await store?.signOut()
        store = nil
    }

    /// Shows the sign-in screen when the session ends, here or on the server.
    private func forgetWhenItEnds() async {
        for await state in messenger.sessionStates {
            switch state {
            case .signedIn, .renewing: continue
            case .signedOut, .ended: store = nil
            }
            return
        }
    }
}

struct SignInView: View {
    let account: Account
    @State private var username = ""
    @State private var password = ""

    var body: some View {
        VStack {
            TextField("Username", text: $username)
            SecureField("Password", text: $password)
            Button("Sign in") { Task { await account.signIn(username, password) } }
            if let problem = account.problem { Text(problem) }
        }
        .padding()
        .task { await account.resume() }
    }
}
