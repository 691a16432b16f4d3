import ContractCheck
import ContractClient
import OperatorPage
import Testbed
import Testing

/// The scenarios of the operator's page are useful: for servers that break one promise each, some scenario that uses the operation
/// fails.
@Suite(.timeLimit(.minutes(Mutant.minutes))) struct OperatorMutantTests {
    /// The mutants that no scenario can notice, each with the reason.
    static let survivors: [String: String] = Dictionary(
        uniqueKeysWithValues: [
            "answers 400 for", "words", "succeeds in place of",
        ].map { change in
            let words = "“The server has no place for backups: start it with --backup-to”"
            let name = change == "words" ? "words \(words) otherwise" : "\(change) \(words)"
            return ("POST /backups: \(name)", "a server without such a place: OperatorPageTests")
        }
    ).merging([
        "GET /reports: reversed [].files": "a message has one file",
        "GET /reports/{api}/{report}: reversed files": "a message has one file",
        "POST /reports/{api}/{report}/act: reversed files": "a message has one file",
        "GET /people/{api}/{id}: reversed sessions": "a person has one session",
        "GET /overview: an empty apis.[].unavailable": "every part can be used",
        "GET /overview: another apis.[].unavailable.[]": "every part can be used",
        "GET /overview: reversed apis.[].unavailable": "every part can be used",
        "GET /overview: cut short apis.[].unavailable": "every part can be used",
    ]) { own, _ in own }

    /// Breaks promises that the examples do not have, because the member is not always there.
    static let mutants: [Mutant] = [
        Mutant("GET /people", "another name", .body("GET /people", #""name":"u"#, #""name":"v"#)),
        Mutant("GET /people", "leaves out the address", .body("GET /people", #""email":"[^"]*","#, "")),
        Mutant(
            "GET /people/{api}/{id}", "hides a suspension",
            .body("GET /people/{api}/{id}", #","suspension":\{[^}]*\}"#, "")),
        Mutant(
            "GET /people/{api}/{id}", "another device",
            .body("GET /people/{api}/{id}", #""device":"B"#, #""device":"C"#)),
        Mutant(
            "POST /people/{api}/{id}/sign-out", "another number of sessions",
            .body("POST /people/{api}/{id}/sign-out", #""sessions":1"#, #""sessions":2"#)),
        Mutant(
            "POST /people/{api}/{id}/reset-code", "another code",
            .body("POST /people/{api}/{id}/reset-code", #""code":"."#, #""code":"-"#)),
        Mutant(
            "POST /people/{api}/{id}/reset-code", "shows the code that it sends",
            .request("POST /people/{api}/{id}/reset-code", #"\{"send":true\}"#, "{}")),
        Mutant(
            "POST /people/{api}/{id}/suspend", "another end",
            .body("POST /people/{api}/{id}/suspend", #""until":"2099"#, #""until":"2098"#)),
        Mutant("GET /reports", "newest first", .reversed("GET /reports")),
        Mutant("GET /reports", "all states", .query("GET /reports", "state=open", "state=all")),
        Mutant(
            "GET /reports/{api}/{report}", "another text of then",
            .body("GET /reports/{api}/{report}", #""content":"rude"#, #""content":"nice"#)),
        Mutant(
            "GET /reports/{api}/{report}", "names the author as the reporter",
            .body("GET /reports/{api}/{report}", #""reporter":\{"id":"[^"]*""#, #""reporter":{"id":"1""#)),
        Mutant(
            "POST /reports/{api}/{report}/act", "does a part",
            .request("POST /reports/{api}/{report}/act", #""remove","suspend""#, #""remove""#)),
        Mutant(
            "POST /reports/{api}/{report}/act", "another operator",
            .body("POST /reports/{api}/{report}/act", #""by":"operator anna""#, #""by":"operator x""#)),
        Mutant("GET /log", "lines of all people", .query("GET /log", "api=[a-z]+&user=[0-9]+&?", "")),
        Mutant(
            "Roles", "moderators read the audit",
            .accepting("GET /audit", "Your link gives the role moderate, and this needs the role all", "[]")),
    ]

    @Test func theScenariosNoticeEveryMutant() async throws {
        try await withOperator(on: Stack(.sqlite, .inProcess)) { host in
            let sockets = NoSockets()
            try await MutantRun(
                "Operator", Mutant.derived(from: OperatorExamples.all) + Self.mutants, survivors: Self.survivors,
                scenarios: OperatorScenarios.all, examples: OperatorExamples.all
            ) { route, body in
                try await body(OperatorWorld(route.server(host.baseURL, host.transport, sockets), host))
            }.run()
        }
    }
}
