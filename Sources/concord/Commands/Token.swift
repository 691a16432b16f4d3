import ArgumentParser

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a token for an API that has no sign-in of its own.",
        discussion: """
            Prints a token and nothing else; the server may be running. Deuce Diary's is signed with the server's own \
            key, so no account with the issuer is needed. Monica's are kept by the server, and can be revoked.
            """,
        subcommands: ConcordAPI.all.compactMap(\.token))
}
