import Database

/// The location of the databases of a server's APIs.
public enum DatabaseLocation: Sendable, Equatable {
    /// A file for each API in the data folder.
    case sqlite
    /// A PostgreSQL database, in which each API has a schema of its own.
    case postgreSQL(url: String)

    /// Reads an operator's setting: `sqlite`, or a URL that begins with `postgres://`. Any other text is nil.
    public init?(_ text: String) {
        if text == "sqlite" {
            self = .sqlite
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgreSQL(url: text)
        } else {
            return nil
        }
    }

    /// Returns the path of an API's SQLite file in a data folder.
    static func file(of api: String, in folder: String) -> String { "\(folder)/\(api).sqlite" }
}
