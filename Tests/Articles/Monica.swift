// What an app has when it begins with MonicaClient's articles: an address and a token that its user has typed, its files, and
// its screens.

import Foundation
import MonicaMocks
import Testing

func articles(
    url: URL, address: String, token: String, folder: URL, today: Day, called: Monica.Timestamp,
    written: Monica.Timestamp, when: Monica.Timestamp, key: String,
    picture: URL, contract: URL,
    // What the user sees or has chosen.
    id: Int
) async throws {
    @Sendable func show(_ values: Any?...) {}
    func share(_ file: URL) {}
    let place = URL(fileURLWithPath: "archive.zip")
    func showSignIn() {}
    // articles
}
