import DunbarClient
import Foundation
import Testbed

// The samples of SigningIn.md. Closures stand for what an app does with a result.

enum SigningInSamples {
    static func client(_ url: URL) -> DunbarClient {
        // sample
        let dunbar = DunbarClient(baseURL: url, store: KeychainCookieStore(service: "dunbar"))
        // end
        return dunbar
    }

    static func register(_ dunbar: DunbarClient, show: (String) -> Void) async throws {
        // sample
        let account = try await dunbar.register(
            Dunbar.Register(
                username: "jdoe", email: "john@example.com", password: "secret123", displayName: "John Doe"))
        show(account.message ?? "Welcome!")
        // end
    }

    static func signIn(
        _ dunbar: DunbarClient, password: String, feed: (Dunbar.Account) -> Void, show: (String) -> Void
    ) async throws {
        func showFeed(of account: Dunbar.Account) { feed(account) }
        // sample
        do {
            showFeed(of: try await dunbar.signIn(username: "jdoe", password: password))
        } catch let error as APIError where error.status == 401 {
            show("That is not your password.")
        }
        // end
    }

    static func start(
        _ dunbar: DunbarClient, feed: (Dunbar.Account) -> Void, showSignIn: () -> Void, show: (String) -> Void
    ) async throws {
        func showFeed(of account: Dunbar.Account) { feed(account) }
        // sample
        guard try await dunbar.wakeUp() else { return show("The server is still waking up.") }
        if let me = try await dunbar.currentUser() {
            showFeed(of: me)
        } else {
            showSignIn()
        }
        // end
    }

    static func remind(_ dunbar: DunbarClient, show: (String) -> Void) async throws {
        // sample
        if try await dunbar.currentUser()?.emailVerified == false { show("Look into your mailbox.") }
        // end
    }

    static func load(
        _ dunbar: DunbarClient, show: ([Dunbar.Post]) -> Void, showSignIn: () -> Void
    ) async throws {
        // sample
        do {
            show(try await dunbar.send(Dunbar.GetFeed()))
        } catch APIError.unauthorized {
            showSignIn()
        }
        // end
    }

    static func sessions(_ dunbar: DunbarClient, password: String, show: (Any?...) -> Void) async throws {
        // sample
        try await dunbar.signIn(username: "jdoe", password: password, deviceName: "John's iPhone")

        let sessions = try await dunbar.send(Dunbar.ListSessions())
        for session in sessions where !session.isCurrent { show(session.device, session.lastUsedAt, session.address) }
        if let lost = sessions.first(where: { $0.device == "John's iPad" }) {
            try await dunbar.send(Dunbar.EndSession(id: lost.id))
        }
        try await dunbar.send(Dunbar.EndOtherSessions())
        // end
    }

    static func move(_ dunbar: DunbarClient, to address: String, password: String) async throws {
        // sample
        try await dunbar.send(Dunbar.ChangeEmail(email: address, password: password))
        // end
    }

    static func change(_ dunbar: DunbarClient, password: String, newPassword: String) async throws {
        // sample
        try await dunbar.changePassword(from: password, to: newPassword)
        // end
    }

    static func archive(_ dunbar: DunbarClient, to place: URL, share: (URL) -> Void) async throws {
        // sample
        let archive = try await dunbar.downloadArchive(to: place)
        share(archive.location)
        // end
    }

    static func signOut(_ dunbar: DunbarClient) async throws {
        // sample
        try await dunbar.signOut()
        // end
    }
}

/// An app that a link in an e-mail opens.
struct EmailLinkOpener {
    let dunbar: DunbarClient

    // sample
    func open(_ link: URL) async throws {
        guard link.path.contains("/verify-email/") else { return }
        try await dunbar.send(Dunbar.VerifyEmail(token: link.lastPathComponent))
    }
    // end
}
