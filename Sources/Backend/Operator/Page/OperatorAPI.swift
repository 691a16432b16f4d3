import Contract

/// The API of the operator's page, on the operator's port, for scripts as well.
///
/// An operation does what a command of the command line does, with its rules, its role and its entry in the audit. Its answer is
/// what the command prints with `--json` (``PrintingCommand``): an array of its entries, or the one entry of a command that prints
/// no list. The API is a part of this module, and not one of its own, because those entries are. `OperatorExamples` has it as text.
enum OperatorAPI: ServiceAPI {
    /// An operation of an operator who is signed in.
    protocol Operation: AuthenticatedEndpoint where API == OperatorAPI {}

    static let name = "operator"
    static let title = "Operator"
    static let basePath = "/api"
    static let captureForm = CaptureForm.text
    static let credentials = CredentialForm.cookie(cookieName)
    static let cookieName = "concord_operator"
    static let sections = [session, overview, people, tokens, reports, log]

    static let errorMessages: ErrorMessages = {
        var messages = ErrorMessages()
        messages.foreignOrigin = "A page of another site sent this request, so nothing was done"
        return messages
    }()

    /// A sentence for the operator.
    struct Said: Codable, Equatable, Sendable {
        let text: String
    }
}

/// The API of the operator's page, for its description.
package enum OperatorPageAPI {
    package static var type: any ServiceAPI.Type { OperatorAPI.self }
    /// The beginning of the name of the cookie that a session has.
    package static let cookie = OperatorAPI.cookieName
}

// MARK: Session

extension OperatorAPI {
    static let session = Section("Session", [SignIn.self, GetSession.self, SignOut.self])

    /// An operator's session, and the APIs that the server serves.
    struct Session: Codable, Equatable, Sendable {
        /// An API of the server, and what an operator can do there.
        struct API: Codable, Equatable, Sendable {
            let name: String
            let title: String
            /// Whether people sign in with a password of this server.
            let hasPasswords: Bool
            /// Whether strangers see what people write, so that there are reports.
            let hasReports: Bool
            /// Whether people have tokens that an operator makes.
            let hasTokens: Bool

            enum CodingKeys: String, CodingKey {
                case name, title
                case hasPasswords = "has_passwords"
                case hasReports = "has_reports"
                case hasTokens = "has_tokens"
            }
        }

        /// The name in the audit, such as `operator anna`.
        let name: String
        let role: OperatorRole
        let expiresAt: Timestamp<Seconds>
        let version: String
        let apis: [API]

        enum CodingKeys: String, CodingKey {
            case name, role
            case expiresAt = "expires_at"
            case version, apis
        }
    }

    /// `POST /sign-in` begins a session with the token of a link, and sets its cookie.
    struct SignIn: OpenEndpoint {
        typealias API = OperatorAPI
        typealias Output = Session
        static let route = Route.post("/sign-in")
        let token: String
    }

    /// `GET /session` returns the session.
    struct GetSession: Operation {
        typealias Output = Session
        static let route = Route.get("/session")
    }

    /// `POST /sign-out` ends the session.
    struct SignOut: Operation {
        typealias Output = Empty
        static let route = Route.post("/sign-out", .noContent)
    }
}

// MARK: People

extension OperatorAPI {
    static let people = Section(
        "People",
        [
            FindPeople.self, ShowPerson.self, SignOutPerson.self, MakeResetCode.self, SuspendPerson.self,
            RestorePerson.self, RemoveContent.self, ExportPerson.self, DeletePerson.self,
        ])

    /// `GET /people` finds people, as `concord people find` does.
    struct FindPeople: Operation {
        typealias Output = [PersonRecord]
        static let route = Route.get("/people")
        let text: String
        /// The API in which they are looked for; nil for all.
        let api: String?
        /// The most people of each API, 1 to 1000: by default 50.
        let limit: Int?

        func validate() throws(Problem) {
            try Problem.require(!text.allSatisfy(\.isWhitespace), "The text to look for is empty")
            try Problem.require(1...1000 ~= limit ?? 50, "limit must be 1 to 1000")
        }
    }

    /// `GET /people/{api}/{id}` returns what is known of a person.
    struct ShowPerson: Operation {
        typealias Output = PersonProfile
        static let route = Route.get("/people/{api}/{id}")
        let api: String
        let id: String
    }

    /// `POST /people/{api}/{id}/sign-out` ends all sessions of a person.
    struct SignOutPerson: Operation {
        typealias Output = PersonDeed
        static let route = Route.post("/people/{api}/{id}/sign-out")
        let api: String
        let id: String
        let reason: String

        func validate() throws(Problem) { try Self.require(reason: reason) }
    }

    /// `POST /people/{api}/{id}/reset-code` makes a code for a new password, and returns it or sends it to the person's address.
    struct MakeResetCode: Operation {
        typealias Output = PersonDeed
        static let route = Route.post("/people/{api}/{id}/reset-code")
        let api: String
        let id: String
        let send: Bool?
    }

    /// `POST /people/{api}/{id}/suspend` suspends a person, until a time or until they are restored.
    struct SuspendPerson: Operation {
        typealias Output = PersonDeed
        static let route = Route.post("/people/{api}/{id}/suspend")
        let api: String
        let id: String
        let until: Timestamp<Seconds>?
        let reason: String

        func validate() throws(Problem) { try Self.require(reason: reason) }
    }

    /// `POST /people/{api}/{id}/restore` lifts a person's suspension.
    struct RestorePerson: Operation {
        typealias Output = PersonDeed
        static let route = Route.post("/people/{api}/{id}/restore")
        let api: String
        let id: String
        let reason: String?
    }

    /// `POST /people/{api}/{id}/remove-content` removes what a person wrote where others see it.
    struct RemoveContent: Operation {
        typealias Output = RemovedContent
        static let route = Route.post("/people/{api}/{id}/remove-content")
        let api: String
        let id: String
        /// The time from which it is removed; nil for all of it.
        let since: Timestamp<Seconds>?
        let reason: String

        func validate() throws(Problem) { try Self.require(reason: reason) }
    }

    /// `GET /people/{api}/{id}/export` returns all that the server keeps of a person, as a ZIP file.
    struct ExportPerson: Operation {
        typealias Output = Empty
        static let route = Route.get("/people/{api}/{id}/export")
        let api: String
        let id: String
        let reason: String

        func validate() throws(Problem) { try Self.require(reason: reason) }
    }

    /// `POST /people/{api}/{id}/delete` deletes a person with everything that belongs to them.
    struct DeletePerson: Operation {
        typealias Output = PersonDeed
        static let route = Route.post("/people/{api}/{id}/delete")
        let api: String
        let id: String
        let reason: String

        func validate() throws(Problem) { try Self.require(reason: reason) }
    }
}

extension OperatorAPI.Operation {
    fileprivate static func require(reason: String) throws(Problem) {
        if let mistake = OperatorTexts.mistake(inReason: reason) { throw Problem(.badRequest, "The reason \(mistake)") }
    }
}

// MARK: Reports

extension OperatorAPI {
    static let reports = Section(
        "Reports",
        [
            ListReports.self, ShowReport.self, GetReportedFile.self, ActOnReport.self, DismissReport.self,
            NoteReport.self,
        ])

    /// `GET /reports` lists the reports of all APIs, the oldest first.
    struct ListReports: Operation {
        typealias Output = [FiledReport]
        static let route = Route.get("/reports")
        /// `open`, `acted`, `dismissed` or `all`: by default `open`.
        let state: String?
        /// The most reports, 1 to 1000: by default 100.
        let limit: Int?

        func validate() throws(Problem) {
            let isState = state.map { $0 == "all" || ReportState(rawValue: $0) != nil } ?? true
            try Problem.require(isState, "state must be open, acted, dismissed or all")
            try Problem.require(1...1000 ~= limit ?? 100, "limit must be 1 to 1000")
        }

        static let fieldRules = ["state": FieldRule(values: ReportState.allCases.map(\.rawValue) + ["all"])]
    }

    /// `GET /reports/{api}/{report}` returns a report, with what was reported as it was then and as it is now.
    struct ShowReport: Operation {
        typealias Output = ShownReport
        static let route = Route.get("/reports/{api}/{report}")
        let api: String
        let report: Int64
    }

    /// `GET /reports/{api}/{report}/files/{number}` returns a file that a report keeps, from number 1.
    struct GetReportedFile: Operation {
        typealias Output = Empty
        static let route = Route.get("/reports/{api}/{report}/files/{number}")
        let api: String
        let report: Int64
        let number: Int
    }

    /// `POST /reports/{api}/{report}/act` removes what was reported, suspends or warns its author, and closes the report.
    struct ActOnReport: Operation {
        typealias Output = FiledReport
        static let route = Route.post("/reports/{api}/{report}/act")
        let api: String
        let report: Int64
        /// The acts, one or more of `remove`, `suspend` and `warn`.
        let acts: [String]
        /// The end of a suspension; nil for none.
        let until: Timestamp<Seconds>?
        let reason: String

        func validate() throws(Problem) {
            let known = acts.compactMap(ReportAct.init)
            try Problem.require(!acts.isEmpty && known.count == acts.count, "acts must be of remove, suspend and warn")
            try Problem.require(until == nil || known.contains(.suspend), "until is the end of a suspension")
            try Self.require(reason: reason)
        }

        static let fieldRules = ["acts.*": FieldRule(values: ReportAct.allCases.map(\.rawValue))]
    }

    /// `POST /reports/{api}/{report}/dismiss` closes a report because nothing needs to be done.
    struct DismissReport: Operation {
        typealias Output = FiledReport
        static let route = Route.post("/reports/{api}/{report}/dismiss")
        let api: String
        let report: Int64
        let reason: String?
    }

    /// `POST /reports/{api}/{report}/notes` adds a note for other operators.
    struct NoteReport: Operation {
        typealias Output = Said
        static let route = Route.post("/reports/{api}/{report}/notes")
        let api: String
        let report: Int64
        let text: String

        func validate() throws(Problem) {
            if let mistake = OperatorTexts.mistake(inNote: text) { throw Problem(.badRequest, "The note \(mistake)") }
        }
    }
}
