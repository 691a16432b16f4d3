import Foundation
import MessengerClient
import Testbed

// The samples of SigningIn.md. Closures stand for what an app does with a result.

enum SigningInSamples {
    static func client(_ url: URL) -> MessengerClient {
        // sample
        let messenger = MessengerClient(baseURL: url, store: KeychainTokenStore(service: "messenger"))
        // end
        return messenger
    }

    static func register(_ messenger: MessengerClient) async throws -> Messenger.Account {
        // sample
        try await messenger.send(
            Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
        try await messenger.signIn(username: "alice", password: "secret123")

        let me = try await messenger.send(Messenger.GetMe())
        print("Hello, \(me.displayName)!")
        // end
        return me
    }

    static func start(
        _ messenger: MessengerClient, chats: (Messenger.User.ID) -> Void, showSignIn: () -> Void
    ) async throws {
        func showChats(of user: Messenger.User.ID) { chats(user) }
        // sample
        if let user = try await messenger.user {
            showChats(of: user)
        } else {
            showSignIn()
        }
        // end
    }

    static func observe(
        _ messenger: MessengerClient, showChats: () -> Void, signIn: (SessionEnd?) -> Void
    ) async {
        func showSignIn(because reason: SessionEnd? = nil) { signIn(reason) }
        // sample
        for await state in messenger.sessionStates {
            switch state {
            case .signedIn, .renewing: showChats()
            case .signedOut: showSignIn()
            case .ended(let reason): showSignIn(because: reason)
            }
        }
        // end
    }

    static func profile(_ messenger: MessengerClient, url: URL) async throws {
        // sample
        let photo = try await messenger.upload(Upload(fileAt: url))
        try await messenger.send(
            Messenger.UpdateMe(displayName: "Alice A.", bio: .to("On holiday"), avatar: .to(photo.id)))
        // end
    }

    static func sessions(_ messenger: MessengerClient, password: String, show: (Any?...) -> Void) async throws {
        // sample
        try await messenger.signIn(username: "alice", password: password, deviceName: "Alice's iPhone")

        let sessions = try await messenger.send(Messenger.ListSessions())
        for session in sessions where !session.current { show(session.device, session.lastUsedAt, session.address) }
        if let lost = sessions.first(where: { $0.device == "Alice's iPad" }) {
            try await messenger.send(Messenger.EndSession(id: lost.id))
        }
        try await messenger.send(Messenger.EndOtherSessions())
        // end
    }

    static func recover(
        _ messenger: MessengerClient, address: String, code: String, newPassword: String
    ) async throws {
        // sample
        try await messenger.send(Messenger.ForgotPassword(email: address))
        // Later, with the code that the user has typed:
        try await messenger.send(Messenger.ResetPassword(token: code, newPassword: newPassword))
        // end
    }

    static func move(_ messenger: MessengerClient, to address: String, code: String, password: String) async throws {
        // sample
        try await messenger.send(Messenger.ChangeEmail(email: address, password: password))
        try await messenger.send(Messenger.VerifyEmail(token: code))
        // end
    }

    static func change(_ messenger: MessengerClient, password: String, newPassword: String) async throws {
        // sample
        try await messenger.changePassword(from: password, to: newPassword)
        // end
    }

    static func archive(_ messenger: MessengerClient, to place: URL, share: (URL) -> Void) async throws {
        // sample
        let archive = try await messenger.downloadArchive(to: place)
        share(archive.location)
        // end
    }

    static func delete(_ messenger: MessengerClient, password: String) async throws {
        // sample
        try await messenger.deleteAccount(password: password)
        // end
    }

    static func signOut(_ messenger: MessengerClient) async throws {
        // sample
        try await messenger.signOut()
        // end
    }
}
