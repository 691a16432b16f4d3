import ContractMocks
import Foundation
@_exported import GuestbookClient
import GuestbookExamples

/// A guestbook without a server, for previews and tests: every operation answers the contract's example.
public struct GuestbookMock: APIMock {
    public let server = MockServer<Guestbook>(
        baseURL: URL(string: "https://guestbook.example")!, examples: GuestbookExamples.all,
        unauthorized: "Invalid or expired token")

    public init() {}
}
