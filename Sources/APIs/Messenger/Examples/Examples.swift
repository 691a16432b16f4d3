import ContractExamples

/// The contract's requests, answers and frames, as text: see `ExampleParser` for the marks.
///
/// It is one world: Alice (1), who is signed in, Bob (2), chat 5, message 99 and file 42.
package enum MessengerExamples {
    package static let all = Examples(
        auth, account, archive, sessions, recovery, users, blocks, chats, members, messages, messageChanges, receipts,
        files,
        devices, muting,
        reports, live,
        calls: calls, failure: #"{ "error": "Username or email already taken" }"#,
        elsewhere: ["/health", "/ready", "/objects/", "/ws"])
}
