import Database

/// A report as an operator sees it.
package struct FiledReport: Codable, Equatable, Sendable {
    package struct Person: Codable, Equatable, Sendable {
        let id: String
        let name: String?

        var text: String { id + (name.map { " \($0.quoted)" } ?? "") }
    }

    package struct File: Codable, Equatable, Sendable {
        /// The stored object's key, which is not printed.
        var key = ""
        let name: String
        let type: String
        let size: Int64?

        enum CodingKeys: String, CodingKey { case name, type, size }
    }

    package struct Note: Codable, Equatable, Sendable {
        let at: PersonRecord.Moment
        let author: String
        let text: String
    }

    package struct Closing: Codable, Equatable, Sendable {
        let at: PersonRecord.Moment
        let by: String
        let acts: [String]
        let reason: String
    }

    let api: String
    let id: Int64
    let state: ReportState
    let kind: ReportedKind
    /// The id of the thing that was reported; empty once the account of a reported person is deleted.
    let thing: String
    let place: String?
    /// The text at the time of the report.
    let content: String?
    let reason: String
    let details: String?
    let createdAt: PersonRecord.Moment
    let closing: Closing?
    /// The word of the operator's list because of which the server has made the report; nil for a report of a person.
    let flaggedWord: String?
    /// Who has reported it; nil when the server has, or the account was deleted.
    var reporter: Person?
    /// Who wrote it, or was reported; nil when the account was deleted.
    var person: Person?
    var files: [File] = []
    var notes: [Note] = []

    enum CodingKeys: String, CodingKey {
        case api, id, state, kind, thing, place, content, reason, details
        case createdAt = "created_at"
        case flaggedWord = "flagged_word"
        case closing, reporter, person, files, notes
    }
}

extension FiledReport.Closing {
    /// Reads the columns of a decision; nil for a report that is open.
    init?(row: borrowing Row) throws {
        guard let time: Int64 = try row.get(FiledReport.Column.closedAt) else { return nil }
        let acts = try row.text(.acts).split(separator: " ").map(String.init)
        self.init(at: .init(time), by: try row.text(.closedBy), acts: acts, reason: try row.text(.closingReason))
    }
}

extension Row {
    fileprivate func text(_ column: FiledReport.Column) throws -> String { try get(column, as: String?.self) ?? "" }
}

extension FiledReport {
    /// The columns of the table of ``ReportQueue``.
    enum Column: String, Columns {
        case id, state, kind
        case thing = "thing_id"
        case place, content, reason, details
        case createdAt = "created_at"
        case reporter = "reporter_id"
        case person = "person_id"
        case closedAt = "closed_at"
        case closedBy = "closed_by"
        case acts
        case closingReason = "closing_reason"
        case flaggedWord = "flagged_word"

        static let list = ColumnList(Self.self)
    }

    /// Reads the columns, without the people, the files and the notes.
    init(row: borrowing Row, of api: String) throws {
        self.api = api
        id = try row.get(Column.id)
        state = try row.get(Column.state)
        kind = try row.get(Column.kind)
        thing = try row.get(Column.thing)
        place = try row.get(Column.place)
        content = try row.get(Column.content)
        reason = try row.get(Column.reason)
        details = try row.get(Column.details)
        createdAt = .init(try row.get(Column.createdAt))
        closing = try Closing(row: row)
        flaggedWord = try row.get(Column.flaggedWord)
    }

    static let deleted = "a deleted account"

    /// The line of a list, with tabs between: API, id, state, time, what is reported, of whom, and why.
    var line: String {
        [
            api, "\(id)", state.rawValue, "\(createdAt)", thing.isEmpty ? kind.rawValue : "\(kind) \(thing)",
            person?.text ?? Self.deleted, reason.quoted,
        ].joined(separator: "\t")
    }

    /// The lines about a report.
    ///
    /// - Parameter present: The text now; nil for a thing that is no longer there.
    func lines(present: String?) -> [String] {
        var lines = ["\(api) report \(id), \(state), of \(createdAt)"]
        let standing = place.map { place in
            switch kind {
            case .message: " in chat \(place)"
            case .comment: " on post \(place)"
            case .entry: " in group \(place)"
            default: ""
            }
        }
        let author = person?.text ?? Self.deleted
        lines.append(kind == .person ? "person: \(author)" : "\(kind): \(thing)\(standing ?? "") of \(author)")
        lines.append("reason: \(reason.quoted)")
        if let details { lines.append("details: \(details.quoted)") }
        let flag = flaggedWord.map { "the list of words, for \($0.quoted)" }
        lines.append("reported by: \(flag ?? reporter?.text ?? Self.deleted)")
        lines.append("then: \(content?.quoted ?? "nothing was kept")")
        lines.append("now: \(present.map { $0 == content ? "the same" : $0.quoted } ?? "no longer there")")
        lines += files.enumerated().map { number, file in
            "file \(number + 1): \(file.name.quoted), \(file.type.quoted)\(file.size.map { ", \($0) bytes" } ?? "")"
        }
        lines += notes.map { "note of \($0.author.quoted) at \($0.at): \($0.text.quoted)" }
        if let closing {
            let acts = closing.acts.isEmpty ? "" : " (\(closing.acts.joined(separator: ", ")))"
            let reason = closing.reason.isEmpty ? "" : ": \(closing.reason.quoted)"
            lines.append("\(state) by \(closing.by.quoted) at \(closing.at)\(acts)\(reason)")
        }
        return lines
    }

    /// Who has closed the report and when, for an operator who comes later.
    var closedSentence: String {
        "Report \(id) was closed by \(closing?.by ?? "another operator")\(closing.map { " at \($0.at)" } ?? ""): \(state)"
    }
}
