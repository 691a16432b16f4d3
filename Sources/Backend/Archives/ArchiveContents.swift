import ContractServer
import Database
import ObjectStore

/// The contents of an API's archives: all that its server keeps of a person, except what protects the account, such as digests of
/// tokens.
public struct ArchiveContents<Person: SQLConvertible>: Sendable {
    /// Returns files of a person after one of them, in the order of their ids, at most a few hundred; none at the end.
    public typealias Files = @Sendable (_ person: Person, _ last: ArchivedFile?) async throws -> [ArchivedFile]

    /// The tables whose rows are in the archive, each as a document of its own.
    public let rows: [ArchivedRows]
    let documents: @Sendable (Person) -> [ArchiveDocument]
    let files: Files

    /// - Parameters:
    ///   - documents: Further documents.
    ///   - files: The person's files.
    public init(
        rows: [ArchivedRows] = [], documents: @escaping @Sendable (Person) -> [ArchiveDocument] = { _ in [] },
        files: @escaping Files = { _, _ in [] }
    ) {
        self.rows = rows
        self.documents = documents
        self.files = files
    }
}

/// A document of an archive, which is written in pieces.
public struct ArchiveDocument: Sendable {
    let name: String
    let write: @concurrent @Sendable (_ write: StreamedAnswer.Write) async throws -> Void

    /// - Parameter name: The name of the entry in the archive: `messages.json`.
    public init(
        _ name: String, write: @escaping @concurrent @Sendable (_ write: StreamedAnswer.Write) async throws -> Void
    ) {
        self.name = name
        self.write = write
    }
}

/// A stored file of an archive.
public struct ArchivedFile: Sendable {
    /// The id by which the API continues its list behind this file.
    public let id: String
    let name: String
    let key: String

    /// - Parameters:
    ///   - name: The name of the entry in the archive, with `/` between folders; no other file has it. Characters that a folder
    ///     of another system would refuse become underscores.
    ///   - key: The key of the stored object.
    public init(id: String, name: String, key: String) {
        self.id = id
        self.name = Self.safe(name)
        self.key = key
    }

    /// Returns a name without what Windows refuses (`\ : * ? " < > |`), control characters, and dots or spaces at the end of a
    /// part.
    static func safe(_ name: String) -> String {
        name.split(separator: "/").map { part in
            var scalars = part.unicodeScalars.map { scalar -> Unicode.Scalar in
                switch scalar {
                case "\\", ":", "*", "?", "\"", "<", ">", "|", "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": "_"
                default: scalar
                }
            }
            while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
            return scalars.isEmpty ? "_" : String(String.UnicodeScalarView(scalars))
        }.joined(separator: "/")
    }
}
