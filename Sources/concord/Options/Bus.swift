import ArgumentParser
import Backend
import Database
import Redis

/// The way in which events travel between the nodes of one server.
enum Bus: Equatable, CustomStringConvertible, Sendable {
    /// Events stay within the process, which is the single node of SQLite.
    case local
    /// Events travel by PostgreSQL's LISTEN and NOTIFY, to all nodes that share the database.
    case postgres
    /// Events travel by the PUBLISH and SUBSCRIBE of a Redis, to all nodes that share a PostgreSQL database.
    case redis(RedisServer, url: String)

    /// Returns the bus for a database.
    init(of database: DatabaseLocation) { self = database == .sqlite ? .local : .postgres }

    /// Reads an operator's setting; nil for any other text.
    init?(_ text: String) {
        switch text {
        case "local": self = .local
        case "postgres": self = .postgres
        default:
            guard let server = RedisServer(text) else { return nil }
            self = .redis(server, url: text)
        }
    }

    /// The bus as the operator writes it.
    var description: String {
        switch self {
        case .local: "local"
        case .postgres: "postgres"
        case .redis(_, let url): url
        }
    }

    var announcements: AnnouncementBus {
        if case .redis(let server, _) = self { .redis(server) } else { .postgreSQL }
    }

    /// Reads the value of a flag. It may have a password, so a mistake is not shown.
    static func flag(_ text: String) throws -> Bus {
        guard let bus = Bus(text) else {
            throw ValidationError(
                """
                --bus must be 'local', 'postgres', 'redis://user:password@host:6379' or 'rediss://…' with at most \
                '?ca=FILE'
                """)
        }
        return bus
    }

    /// Checks that a database has this bus.
    ///
    /// - Throws: `ValidationError` when events would not reach every node.
    func check(with database: DatabaseLocation) throws {
        switch (self, Bus(of: database)) {
        case (.redis, .local):
            throw ValidationError(
                """
                --bus redis://… cannot be used with --database sqlite: a database in a file has one node, which needs no \
                bus. Leave out --bus, or give --database postgres://…
                """)
        case (.postgres, .local):
            throw ValidationError(
                """
                --bus postgres cannot be used with --database sqlite: there is no PostgreSQL to listen on. Leave out \
                --bus, or give --database postgres://…
                """)
        case (.local, .postgres):
            throw ValidationError(
                """
                --bus local cannot be used with a PostgreSQL database: events of one node would not reach the others. \
                Leave out --bus, or give --bus postgres or --bus redis://…
                """)
        default: break
        }
    }
}
