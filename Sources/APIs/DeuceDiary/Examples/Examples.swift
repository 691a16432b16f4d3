import ContractExamples

/// The contract's requests, answers and frames, as text: see `ExampleParser` for the marks.
///
/// It is one world: John, who is signed in, Jane, and their group "Throne Room" with an entry of John's.
package enum DeuceDiaryExamples {
    package static let all = Examples(
        users, export, archive, groups, members, invites, entries, reactions, locations, reports, blocks, analytics,
        live,
        calls: calls, failure: #"{ "message": "Unauthorized" }"#,
        elsewhere: ["/health", "/ready", "/uploads/", "/objects/", "/ws"])

    static let groupID = "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071"
    static let entryID = "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d"
    static let inviteID = "0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e"
    /// A text, as JSON, with all that a reader could stumble over.
    static let odd = #""ä \"b\"\\ /?&+%\r\n\u001f👨‍👩‍👧‍👦""#
    /// The same without what no name may have.
    static let oddName = #""ä \"b\"\\ /?&+%👨‍👩‍👧‍👦""#
}
