import Database
import Foundation

/// The place to which an API's SQLite database was moved, noted beside the file that was put aside: a start without
/// `--database` would make an empty database in its place.
struct MovedDatabase {
    let api: String
    let folder: String

    private var note: String { DatabaseLocation.file(of: api, in: folder) + "-moved-to" }

    /// Notes that the database is in PostgreSQL from now on.
    func write(_ url: String, now: Date = Date()) throws {
        let text = "\(PostgreSQLURL.masked(url) ?? "postgres://…") on \(now.formatted(.iso8601.year().month().day()))"
        try Data(text.utf8).write(to: URL(fileURLWithPath: note))
    }

    /// Removes the note, when the database has come back.
    func remove() { unlink(note) }

    /// Returns why a start on SQLite is refused; nil when the database is there, or was never moved.
    func refusal() -> DatabaseIsElsewhere? {
        let file = DatabaseLocation.file(of: api, in: folder)
        guard !FileManager.default.fileExists(atPath: file) else { return nil }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard let aside = names.sorted().last(where: { $0.hasPrefix("\(api).sqlite-moved-2") }) else { return nil }
        let place = FileManager.default.contents(atPath: note).map { String(decoding: $0, as: UTF8.self) }
        return DatabaseIsElsewhere(api: api, place: place ?? "PostgreSQL", aside: "\(folder)/\(aside)")
    }
}

/// The error of a start on SQLite whose database has moved to PostgreSQL.
public struct DatabaseIsElsewhere: Error, CustomStringConvertible {
    let api: String
    let place: String
    let aside: String

    public var description: String {
        """
        The database of \(api) was moved to \(place): give --database (CONCORD_DATABASE). To begin with an empty database \
        instead, remove \(aside)
        """
    }
}

extension ServerSettings {
    /// Returns why each API may not be started on SQLite.
    func movedDatabases(of apis: [any HostedAPI]) -> [DatabaseIsElsewhere] {
        guard database == .sqlite else { return [] }
        return apis.compactMap { MovedDatabase(api: $0.name, folder: folder).refusal() }
    }
}
