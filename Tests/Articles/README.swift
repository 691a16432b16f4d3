// What an app has when it begins with the README: an address, a session of its issuer, a token, a picture, and its screens.

import DeuceDiaryClient
import DunbarClient
import Foundation
import GTSDClient
import MessengerClient
import MonicaClient

struct IssuerSession: Sendable {
    func token() async throws -> String { "" }
}

func articles(url: URL, session: IssuerSession, token: String, photo: URL) async throws {
    @Sendable func show(_ values: Any?...) {}
    // articles
}
