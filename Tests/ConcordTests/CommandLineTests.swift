import Foundation
import Testbed
import Testing

/// All commands have one style: nouns, then verbs.
@Suite(.timeLimit(.minutes(30))) struct CommandLineTests {
    private func concord(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    /// Each of them names the command that was meant.
    @Test(arguments: [
        (["monica", "token", "create"], "Usage: concord monica token create --account <account>"),
        (["monica", "token", "create", "--account", ""], "Usage: concord monica token create "),
        (["monica", "token", "made"], "Usage: concord monica token <subcommand>"),
        (["dunbar", "promote"], "Usage: concord dunbar promote "),
        (["deuce-diary", "token", "create", "--user", ""], "Usage: concord deuce-diary token create "),
        (["messenger", "--reports"], "Usage: concord messenger <subcommand>"),
        (["reports", "show", "messenger", "x"], "Usage: concord reports show "),
        (["reports", "act", "messenger", "1", "--reason", "x"], "Usage: concord reports act "),
        (["people", "remove-content", "messenger", "1"], "Usage: concord people remove-content "),
        (
            ["people", "remove-content", "messenger", "--from", "/nonexistent", "--reason", "x"],
            "See 'concord people remove-content --help' for more information."
        ),
        (["health", "somewhere"], "Usage: concord health "),
        (["check", "messenger"], "Usage: concord check "),
        (["serve", "--storage-quota", "much"], "Usage: concord serve "),
        (["serve", "telephone"], "See 'concord serve --help' for more information."),
    ])
    func aWrongUseShowsTheUsageOfThatCommand(_ arguments: [String], _ words: String) async throws {
        let outcome = try await concord(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("Error: "), "\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(outcome.output == "")
    }

    @Test(arguments: [
        ["monica", "token", "list"], ["monica", "token", "revoke", "1"], ["monica", "export", "--account", "a"],
        ["monica", "import", "/nonexistent", "--account", "a"], ["reports", "list", "--api", "messenger"],
        ["reports", "show", "dunbar", "1"],
        ["dunbar", "promote", "a"], ["gtsd", "activate", "a"], ["deuce-diary", "location", "delete", "a"],
    ])
    func anErrorAtWorkIsOneSentence(_ arguments: [String]) async throws {
        let outcome = try await concord(arguments + ["--data", "/nonexistent"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Error: "), "\(outcome.errors)")
        #expect(outcome.errors.filter(\.isNewline).count == 1, "\(outcome.errors)")
        #expect(!outcome.errors.contains("Usage"), "\(outcome.errors)")
    }

    @Test(arguments: [
        ("192.0.2.1", "Cannot assign requested address."), ("host.invalid", "there is no such host."),
    ])
    func anAddressOfAnotherMachineIsRefusedInWords(_ host: String, _ words: String) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await concord(
                ["serve", "messenger", "--host", host, "--port", "messenger=0", "--data", folder])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("messenger cannot listen on \(host):0: \(words)"), "\(outcome.errors)")
        }
    }
}
