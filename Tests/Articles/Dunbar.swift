// What an app has when it begins with DunbarClient's articles: its files, the texts of its forms, and its screens.

import DunbarMocks
import Foundation
import Testing

func articles(
    url: URL, password: String, newPassword: String, address: String, text: String, photo: URL, file: URL, files: [URL],
    folder: URL, store: any CookieStore,
    enough: Int,
    // What the user sees or has chosen.
    sarah: Dunbar.User
) async throws {
    @Sendable func show(_ values: Any?...) {}
    func share(_ file: URL) {}
    let place = URL(fileURLWithPath: "archive.zip")
    func hint(_ text: String) {}
    func showFeed(of account: Dunbar.Account) {}
    func showSignIn() {}
    func offerToTryAgain() {}
    func knows(_ user: Dunbar.User) -> Bool { true }
    func knows(_ user: Dunbar.UserSummary) -> Bool { true }
    var shown = 0
    // articles
}
