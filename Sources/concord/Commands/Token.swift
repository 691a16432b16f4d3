import ArgumentParser

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a token for an API that has no sign-in of its own.",
        discussion: """
            Prints only the token; the server may be running. Deuce Diary's tokens are signed with the server's own \
            key, so no account with an issuer is needed. Monica's tokens are stored by the server and can be revoked.
            """,
        subcommands: ConcordAPI.all.compactMap(\.token))
}
