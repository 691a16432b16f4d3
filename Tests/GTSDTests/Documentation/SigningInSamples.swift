import Foundation
import GTSDClient
import Testbed

// The samples of SigningIn.md. Closures stand for what an app does with a result.

enum SigningInSamples {
    static func client(_ url: URL) -> GTSDClient {
        // sample
        let gtsd = GTSDClient(baseURL: url, store: KeychainTokenStore(service: "gtsd"))
        // end
        return gtsd
    }

    static func signUp(
        _ gtsd: GTSDClient, password: String, welcome: (GTSD.User) -> Void, show: ([String]) -> Void
    ) async throws {
        // sample
        let mistakes = GTSD.Password.mistakes(password)
        guard mistakes.isEmpty else { return show(mistakes) }
        do {
            welcome(try await gtsd.signUp(email: "anna@example.com", password: password, name: "Anna"))
        } catch let error as APIError where error.status == .conflict {
            show([error.message])
        }
        // end
    }

    static func signIn(_ gtsd: GTSDClient) async throws -> GTSD.User {
        // sample
        let user = try await gtsd.signIn(email: "anna@example.com", password: "Secret-123")
        // end
        return user
    }

    static func start(_ gtsd: GTSDClient, day: (GTSD.User.ID) -> Void, showSignIn: () -> Void) async throws {
        func showDay(of user: GTSD.User.ID) { day(user) }
        // sample
        if let user = try await gtsd.user {
            showDay(of: user)
        } else {
            showSignIn()
        }
        // end
    }

    static func load(
        _ gtsd: GTSDClient, show: ([GTSD.Task]) -> Void, showSignIn: () -> Void
    ) async throws {
        // sample
        do {
            show(try await gtsd.send(GTSD.ListTasks()).data.tasks)
        } catch is SignedOut {
            showSignIn()
        }
        // end
    }

    static func travel(_ gtsd: GTSDClient) async throws {
        // sample
        try await gtsd.send(GTSD.UpdateMe(name: "Anna", timezone: GTSD.Zone.current))
        // end
    }

    static func sessions(_ gtsd: GTSDClient, password: String, show: (Any?...) -> Void) async throws {
        // sample
        try await gtsd.signIn(email: "anna@example.com", password: password, deviceName: "Anna's iPhone")

        let sessions = try await gtsd.send(GTSD.ListSessions()).data.sessions
        for session in sessions where !session.current { show(session.device, session.lastUsedAt, session.address) }
        if let lost = sessions.first(where: { $0.device == "Anna's iPad" }) {
            try await gtsd.send(GTSD.EndSession(lost.id))
        }
        try await gtsd.send(GTSD.EndOtherSessions())
        // end
    }

    static func recover(
        _ gtsd: GTSDClient, address: String, code: String, newPassword: String
    ) async throws {
        // sample
        try await gtsd.send(GTSD.ForgotPassword(email: address))
        // Later, with the code that the user has typed:
        try await gtsd.send(GTSD.ResetPassword(token: code, newPassword: newPassword))
        // end
    }

    static func move(_ gtsd: GTSDClient, to address: String, code: String, password: String) async throws {
        // sample
        try await gtsd.send(GTSD.ChangeEmail(email: address, password: password))
        try await gtsd.send(GTSD.VerifyEmail(token: code))
        // end
    }

    static func change(_ gtsd: GTSDClient, password: String, newPassword: String) async throws {
        // sample
        try await gtsd.changePassword(from: password, to: newPassword)
        // end
    }

    static func archive(_ gtsd: GTSDClient, to destination: URL, share: (URL) -> Void) async throws {
        // sample
        let archive = try await gtsd.downloadArchive(to: destination)
        share(archive.location)
        // end
    }

    static func signOut(_ gtsd: GTSDClient) async throws {
        // sample
        try await gtsd.signOut()
        // end
    }

    static func deleteAccount(_ gtsd: GTSDClient, password: String) async throws {
        // sample
        try await gtsd.deleteAccount(password: password)
        // end
    }
}
