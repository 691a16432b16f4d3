import Contract
import Database

/// The words and phrases that an operator looks out for (`--flag-words`). A text that has one is published, and is reported
/// in the same transaction.
public struct FlaggedWords: Sendable {
    /// A text that has one of the words.
    public struct Finding: Sendable {
        /// The word or phrase, as it stands in the list.
        public let word: String
        /// The texts of the request, one on each line.
        public let text: String
    }

    private let words: WordList?

    /// - Parameter words: The list; nil for one that has no word.
    public init(_ words: WordList? = nil) { self.words = words }

    /// Looks for a word of the list in the texts that a request publishes.
    public func finding(in request: some PublishesTexts) -> Finding? {
        guard let words else { return nil }
        let texts = request.publishedTexts.compactMap(\.self)
        return words.entry(in: texts).map { Finding(word: $0, text: texts.joined(separator: "\n")) }
    }
}

extension ReportQueue {
    /// The statements that add, in a step of an API's schema, the column for the word because of which the server has made
    /// a report.
    public static var flags: [String] { ["ALTER TABLE filed_reports ADD COLUMN flagged_word TEXT"] }

    /// The open reports of flagged words that there are at most about one person, so that no user fills the queue.
    static var mostFlags: Int { 20 }

    /// Reports a text with a flagged word, in the transaction that stores it. A thing has one such open report, and a person
    /// at most twenty of them; no other is added.
    ///
    /// - Parameters:
    ///   - finding: The word that was found; nil for none.
    ///   - copy: Returns the copy of the thing with the word; nil when the thing is gone.
    ///   - author: Who wrote it.
    public static func flag(
        _ finding: FlaggedWords.Finding?, _ copy: (FlaggedWords.Finding) throws -> ReportedCopy?,
        by author: Table.ID, at now: Int64, in db: Session
    ) throws {
        guard let finding, let copy = try copy(finding) else { return }
        let open: SQL = "person_id = \(author) AND state = 'open' AND flagged_word IS NOT NULL"
        let isReported = try db.exists(
            "SELECT 1 FROM filed_reports WHERE \(open) AND kind = \(copy.thing.kind) AND thing_id = \(copy.thing.id)")
        let count: Int = try db.value("SELECT COUNT(*) FROM filed_reports WHERE \(open)") ?? 0
        guard !isReported, count < mostFlags else { return }
        _ = try insert(
            copy, about: author, by: nil, because: "flagged word", flaggedWord: finding.word, at: now, in: db)
    }

    /// Reports a person because of names or other texts that belong to no thing of a kind of its own.
    public static func flag(
        _ finding: FlaggedWords.Finding?, person: Table.ID, at now: Int64, in db: Session
    ) throws {
        let thing = WrittenThing(.person, "\(person.rawValue)", by: "\(person.rawValue)")
        try flag(finding, { ReportedCopy(of: thing, text: $0.text) }, by: person, at: now, in: db)
    }
}
