import DunbarClient
import Foundation

// The samples of Errors.md.

enum ErrorsSamples {
    static func post(
        _ dunbar: DunbarClient, text: String, show: (String) -> Void, offer: () -> Void, showSignIn: () -> Void
    ) async throws {
        func offerToTryAgain() { offer() }
        // sample
        do {
            try await dunbar.post(text)
        } catch APIError.unauthorized {
            showSignIn()
        } catch let error as APIError {
            show(error.message ?? error.localizedDescription)
            if error.isRetryable { offerToTryAgain() }
        }
        // end
    }

    static func form(text: String, hint: (String) -> Void) {
        // sample
        do {
            try Dunbar.CreatePost(content: text).validate()
        } catch {
            hint(error.message)
        }
        // end
    }

    static func patient(_ url: URL, store: any CookieStore) -> DunbarClient {
        // sample
        let dunbar = DunbarClient(
            baseURL: url, store: store, retry: Retry(attempts: 5, base: .seconds(1), cap: .seconds(30)),
            patience: .seconds(60))
        // end
        return dunbar
    }

    static func watch(show: (String) -> Void) {
        // sample
        NetworkMonitor.shared.startMonitoring()
        if !NetworkMonitor.shared.isConnected { show("No internet connection available") }
        // end
        NetworkMonitor.shared.stopMonitoring()
    }
}
