import Contract
import Database

/// The kind of a thing that a report is about, or an operator removes.
public enum ReportedKind: String, Codable, CaseIterable, Sendable, SQLConvertible {
    case person, message, post, comment, entry
    /// An upload that nothing uses, and a reaction: they are removed with a person's other things, and cannot be reported.
    case file, reaction
}

/// The state of a report. An operator decides once.
public enum ReportState: String, Codable, CaseIterable, Sendable, SQLConvertible {
    case open, acted, dismissed

    /// Returns the state after a decision; nil for a report that was decided before.
    func after(_ decision: ReportDecision) -> ReportState? {
        switch (self, decision) {
        case (.open, .act): .acted
        case (.open, .dismiss): .dismissed
        case (.acted, _), (.dismissed, _): nil
        }
    }
}

/// A decision of an operator about a report.
enum ReportDecision: Sendable {
    case act([ReportAct])
    case dismiss

    var acts: [ReportAct] { if case .act(let acts) = self { acts } else { [] } }
}

/// An act of an operator because of a report.
public enum ReportAct: String, Codable, CaseIterable, Sendable {
    /// The reported thing is removed.
    case remove
    /// Its author is suspended.
    case suspend
    /// Its author is warned.
    case warn
}

/// A thing that a user wrote, as the queue of reports and operators' commands name it.
public struct WrittenThing: Sendable, Hashable {
    public let kind: ReportedKind
    /// The id as the API writes it.
    public let id: String
    /// Where it stands: the chat of a message, the post of a comment, the group of an entry.
    public let place: String?
    /// The author's id; nil where it is not known.
    public let author: String?

    public init(_ kind: ReportedKind, _ id: String, in place: String? = nil, by author: String? = nil) {
        self.kind = kind
        self.id = id
        self.place = place
        self.author = author
    }
}

/// The copy that a report keeps of the thing that it is about.
public struct ReportedCopy: Sendable {
    public let thing: WrittenThing
    let text: String?
    let files: [ReportedFile]

    public init(of thing: WrittenThing, text: String?, files: [ReportedFile] = []) {
        self.thing = thing
        self.text = text
        self.files = files
    }
}

/// A file that a report keeps. The stored object is the original's: it stays as long as one of the two names it.
public struct ReportedFile: Sendable {
    let key: String
    let name: String
    let type: String
    /// The size in bytes; nil where the API does not keep it.
    let size: Int64?

    /// - Parameter key: The stored object's key.
    public init(key: String, name: String, type: String, size: Int64?) {
        self.key = key
        self.name = name
        self.type = type
        self.size = size
    }
}

extension SQLConvertible where Self: RawRepresentable<String> & CaseIterable {
    public var sqlValue: SQLValue { .text(rawValue) }
    public init(column index: Int, of row: borrowing Row) throws {
        guard let value = Self(rawValue: try String(column: index, of: row)) else {
            throw UnreadableColumn(index: index, expected: "\(Self.self)")
        }
        self = value
    }
}
