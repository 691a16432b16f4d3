import DunbarClient
import Foundation
import Testbed

// The sample of the landing page, of DunbarClient's own documentation and of the README.

enum OverviewSamples {
    static func begin(_ url: URL, photo: URL, show: (Dunbar.Post) -> Void) async throws -> Dunbar.Account {
        // sample
        let dunbar = DunbarClient(baseURL: url, store: KeychainCookieStore(service: "dunbar"))
        let me = try await dunbar.signIn(username: "jdoe", password: "secret123")
        let post = try await dunbar.post("Hello world", media: [Upload(fileAt: photo)])
        for try await post in dunbar.feed() { show(post) }
        // end
        _ = post
        return me
    }
}
