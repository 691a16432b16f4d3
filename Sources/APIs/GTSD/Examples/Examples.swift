import ContractExamples

/// The contract's requests and answers, as text: see `ExampleParser` for the marks.
///
/// It is one world: Anna, who is signed in, with a task, its evidence, a photo, a streak, a badge and a plan.
package enum GTSDExamples {
    package static let all = Examples(
        auth, archive, sessions, recovery, tasks, photos, streaks, plans, onboarding,
        calls: calls, failure: #"{ "error": { "message": "Resource not found", "requestId": "8f14e45f" } }"#,
        elsewhere: ["/health", "/ready", "/objects/"])

    static func success(_ data: String) -> String { #"{ "success": = true, "data": \#(data) }"# }
    static func message(_ text: String) -> String { #"{ "success": = true, "message": = "\#(text)" }"# }
}
