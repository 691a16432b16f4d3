import Contract
import ContractServer
import Foundation
import OperatorPage
import Testbed
import Testing

@testable import Backend

/// The types equal the examples.
@Suite(.timeLimit(.minutes(30))) struct OperatorWireTests {
    /// The requests of all examples.
    static let requests: [ExampleRequest] = [
        .init(OperatorAPI.SignIn(token: "kC4…")),
        .init(OperatorAPI.GetSession()),
        .init(OperatorAPI.SignOut()),
        .init(OperatorAPI.GetOverview()),
        .init(OperatorAPI.ListProblems()),
        .init(OperatorAPI.ListAudit(last: 20)),
        .init(OperatorAPI.BackUpNow()),
        .init(OperatorAPI.SendTestEmail(address: "anna@example.com")),
        .init(OperatorAPI.FindPeople(text: "bob", api: nil, limit: nil)),
        .init(OperatorAPI.FindPeople(text: "bob", api: "messenger", limit: 50)),
        .init(OperatorAPI.ShowPerson(api: "messenger", id: "17")),
        .init(OperatorAPI.SignOutPerson(api: "messenger", id: "17", reason: "a lost phone")),
        .init(OperatorAPI.MakeResetCode(api: "messenger", id: "17", send: nil)),
        .init(OperatorAPI.MakeResetCode(api: "messenger", id: "17", send: true)),
        .init(OperatorAPI.SuspendPerson(api: "messenger", id: "17", until: nil, reason: "spam")),
        .init(
            OperatorAPI.SuspendPerson(
                api: "messenger", id: "17", until: .init("2026-03-02T10:00:00Z"), reason: "spam")),
        .init(OperatorAPI.RestorePerson(api: "messenger", id: "17", reason: nil)),
        .init(OperatorAPI.RestorePerson(api: "messenger", id: "17", reason: "it was a mistake")),
        .init(OperatorAPI.RemoveContent(api: "messenger", id: "17", since: nil, reason: "spam")),
        .init(
            OperatorAPI.RemoveContent(
                api: "messenger", id: "17", since: .init("2026-02-23T10:00:00Z"), reason: "spam")),
        .init(OperatorAPI.ExportPerson(api: "messenger", id: "17", reason: "asked")),
        .init(OperatorAPI.DeletePerson(api: "messenger", id: "17", reason: "asked")),
        .init(OperatorAPI.ListTokens(api: "monica", account: "alice")),
        .init(OperatorAPI.CreateToken(api: "monica", account: "alice", name: "phone")),
        .init(OperatorAPI.RevokeToken(api: "monica", number: 4)),
        .init(OperatorAPI.ListReports(state: "open", limit: 100)),
        .init(OperatorAPI.ShowReport(api: "messenger", report: 3)),
        .init(OperatorAPI.GetReportedFile(api: "messenger", report: 3, number: 1)),
        .init(
            OperatorAPI.ActOnReport(api: "messenger", report: 3, acts: ["remove"], until: nil, reason: "insults")),
        .init(
            OperatorAPI.ActOnReport(
                api: "messenger", report: 3, acts: ["suspend"], until: .init("2026-03-02T10:00:00Z"),
                reason: "insults")),
        .init(OperatorAPI.DismissReport(api: "messenger", report: 3, reason: nil)),
        .init(OperatorAPI.DismissReport(api: "messenger", report: 3, reason: "harmless")),
        .init(OperatorAPI.NoteReport(api: "messenger", report: 3, text: "asked bob")),
        .init(
            OperatorAPI.ReadLog(text: "request", level: "info", api: nil, user: nil, after: 0, limit: 200)),
        .init(OperatorAPI.ReadLog(text: nil, level: nil, api: "messenger", user: "17", after: nil, limit: nil)),
    ]

    /// The values of the answers in the examples.
    static let answers: [ExampleAnswer] = [
        .init(of: OperatorAPI.SignIn.self, session), .init(of: OperatorAPI.GetSession.self, session),
        .init(of: OperatorAPI.GetOverview.self, overview),
        .init(of: OperatorAPI.ListProblems.self, ["no mail server is set"]),
        .init(
            of: OperatorAPI.ListAudit.self,
            [
                .init(
                    id: 9, time: began, api: "messenger", actor: "operator anna", action: "people suspend",
                    subject: "user 17: spam")
            ]),
        .init(of: OperatorAPI.SendTestEmail.self, .init(text: "The mail server has taken the e-mail")),
        .init(of: OperatorAPI.FindPeople.self, [person]),
        .init(of: OperatorAPI.ShowPerson.self, profile),
        .init(of: OperatorAPI.SignOutPerson.self, deed { $0.sessions = 1 }),
        .init(
            of: OperatorAPI.MakeResetCode.self,
            deed {
                ($0.email, $0.code) = ("bob@example.com", "kC4…")
                $0.expiresAt = moment("2026-02-23T10:15:00Z")
            }),
        .init(of: OperatorAPI.SuspendPerson.self, deed { $0.suspension = suspension }),
        .init(of: OperatorAPI.RestorePerson.self, deed { _ in }),
        .init(
            of: OperatorAPI.RemoveContent.self, .init(api: "messenger", id: "17", name: "bob", removed: 1)),
        .init(of: OperatorAPI.DeletePerson.self, deed { _ in }),
        .init(
            of: OperatorAPI.ListTokens.self,
            [
                .init(
                    number: 4, account: "alice", name: "phone", createdAt: began,
                    lastUsedAt: moment("2026-02-23T11:00:00Z"))
            ]),
        .init(of: OperatorAPI.CreateToken.self, .init(text: "kC4…")),
        .init(of: OperatorAPI.ListReports.self, [report]),
        .init(of: OperatorAPI.ShowReport.self, .init(report: report, present: nil)),
        .init(of: OperatorAPI.ActOnReport.self, report), .init(of: OperatorAPI.DismissReport.self, report),
        .init(of: OperatorAPI.NoteReport.self, .init(text: "The note is on messenger report 3")),
        .init(
            of: OperatorAPI.ReadLog.self,
            .init(newest: 9, lines: [.init(number: 9, level: "info", text: "info request status=200")])),
    ]

    private static func moment(_ text: String) -> PersonRecord.Moment {
        guard let time = Timestamp<Seconds>(text) else { preconditionFailure("no time: \(text)") }
        return .init(time.milliseconds)
    }

    private static let began = moment("2026-02-23T10:00:00Z")
    private static let suspension = Suspension(reason: "spam", since: began, until: moment("2026-03-02T10:00:00Z"))
    private static let person = PersonRecord(
        api: "messenger", id: "17", name: "bob", email: "bob@example.com", isVerified: true, createdAt: began,
        suspension: suspension)
    private static let session = OperatorAPI.Session(
        name: "operator anna", role: .all, expiresAt: .init("2026-02-23T22:00:00Z")!, version: "0.1.0",
        apis: [
            .init(name: "messenger", title: "Messenger", hasPasswords: true, hasReports: true, hasTokens: false)
        ])
    private static let traffic = OperatorAPI.Minute(requests: 120, errors: 1, p95: 4.2)
    private static let overview = OperatorAPI.Overview(
        apis: [
            .init(
                name: "messenger", title: "Messenger", url: "http://127.0.0.1:8080", unavailable: ["database"],
                isReady: true, sockets: 0, emailsWaiting: 0, emailsFailed: 0, pushesWaiting: 0, pushesFailed: 0,
                reportsOpen: 1, oldestReportAt: .init("2026-02-23T10:00:00Z"), hour: traffic, minutes: [traffic])
        ], minutes: [traffic],
        disk: .init(available: 40_000_000_000, size: 80_000_000_000, reserve: 1_000_000_000),
        backup: .init(
            place: "/var/backups", newestAt: .init("2026-02-23T03:00:00Z"), size: 1_048_576, problem: "full",
            isRunning: false, done: 0, total: 0), certificateExpiresAt: .init("2026-05-01T00:00:00Z"), warnings: 2)
    private static let profile = PersonProfile(
        person: person, lastSeenAt: began,
        sessions: [.init(device: "Bob's iPhone", startedAt: began, usedAt: began, address: "192.0.2.7")],
        failedSignIns: 0, acceptedTerms: "2026-11", storage: 2048, reports: .init(by: 0, about: 1),
        acts: [.init(time: began, actor: "operator anna", action: "people suspend", subject: "user 17: spam")])
    private static let report = FiledReport(
        api: "messenger", id: 3, state: .open, kind: .message, thing: "99", place: "5", content: "rude",
        reason: "insults", details: "again", createdAt: began,
        closing: .init(
            at: moment("2026-02-23T11:00:00Z"), by: "operator anna", acts: ["remove"], reason: "insults"),
        flaggedWord: "rude", reporter: .init(id: "16", name: "alice"), person: .init(id: "17", name: "bob"),
        files: [.init(name: "a.jpg", type: "image/jpeg", size: 2048)],
        notes: [.init(at: moment("2026-02-23T10:30:00Z"), author: "operator ben", text: "asked bob")])

    private static func deed(_ change: (inout PersonDeed) -> Void) -> PersonDeed {
        var deed = PersonDeed(api: "messenger", id: "17", name: "bob")
        change(&deed)
        return deed
    }

    @Test(arguments: requests) func aRequestIsTheContracts(_ request: ExampleRequest) throws {
        try OperatorLawTests.laws.check(request)
    }

    @Test(arguments: answers) func anAnswerIsTheContracts(_ answer: ExampleAnswer) throws {
        try OperatorLawTests.laws.check(answer)
    }

    @Test func everyExampleHasItsValue() { OperatorLawTests.laws.checkExamplesAreUsed(Self.answers) }

    @Test func everyVariantOfAnAnswerIsReadAndWritten() throws { try OperatorLawTests.laws.checkAnswers() }

    /// A command prints with `--json` what the page answers, but for the order of members.
    @Test func aCommandPrintsTheSame() throws {
        let lines = [
            ("GET /people", try JSONLine.encode([Self.person])), ("GET /reports", try JSONLine.encode([Self.report])),
            ("GET /people/{api}/{id}", try JSONLine.encode(Self.profile)),
            ("GET /reports/{api}/{report}", try JSONLine.encode(ShownReport(report: Self.report, present: nil))),
        ]
        for (signature, line) in lines {
            let body = try #require(OperatorExamples.all[signature]?.answers.first?.body)
            #expect(try read(JSONValue.self, line) == read(JSONValue.self, body.json()), "\(signature)")
        }
    }
}
