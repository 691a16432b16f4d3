import ContractExamples

/// The contract's requests and answers, as text: see `ExampleParser` for the marks.
///
/// It is one world: John (1), who is signed in, Sarah (2), who asks to follow him, and Alex (3), whom he asks.
package enum DunbarExamples {
    package static let all = Examples(
        authentication, accounts, archive, sessions, users, posts, reports, comments, follows, blocks, search, health,
        calls: calls,
        // A server that is not healthy says more than why.
        failure: """
            { "message": "Unauthorized" } | {
              "status": = "unhealthy",
              "components": {
                "server": = "healthy", "database": "healthy" | "error", "storage": "healthy" | "error"
              },
              "timestamp": "2025-01-01T00:00:00.000Z",
              "message": = "Service unavailable"
            }
            """,
        elsewhere: ["/media/"])

    static let pictures = "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789"

    static func message(_ text: String) -> String { #"{ "message": = "\#(text)" }"# }

    /// A user with what the caller is to them.
    static func related(_ user: String) -> String {
        #"{ "user": \#(user), "isFollowing": false, "isPending": false }"#
    }
}
