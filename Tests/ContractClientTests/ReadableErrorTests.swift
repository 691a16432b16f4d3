import Contract
import Foundation
import Testbed
import Testing

@testable import ContractClient

/// Errors have sentences for users, and keys for translations that docs/errors.md lists.
@Suite(.timeLimit(.minutes(30))) struct ReadableErrorTests {
    private let errors: [any ReadableError] = [
        SignedOut(), SocketsUnavailable(), SocketClosed(code: 1006), SocketRefused(status: 503, body: []), PeerSilent(),
    ]

    @Test func everyErrorIsASentenceAndHasAKey() throws {
        let page = try String(contentsOfFile: StockTools.package + "/docs/errors.md", encoding: .utf8)
        for error in errors {
            let sentence = try #require(error.errorDescription)
            #expect(error.localizedDescription == sentence)
            #expect(sentence.last == "." && sentence.first?.isUppercase == true, "\(sentence)")
            #expect(page.contains("| `\(error.translationKey)` |"), "\(error.translationKey)")
            #expect(page.contains("| \(sentence) |"), "\(sentence)")
        }
        #expect(Set(errors.map(\.translationKey)).count == errors.count)
    }

    @Test func aRefusedSocketSaysWhatToDo() {
        #expect(SocketRefused(status: 401, body: []).recoverySuggestion == "Please sign in again.")
        #expect(SocketRefused(status: 503, body: []).recoverySuggestion == "Please try again later.")
    }
}
