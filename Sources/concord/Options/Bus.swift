import ArgumentParser
import Backend

/// The way in which events travel between the nodes of one server.
enum Bus: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Events stay within the process, which is the single node of SQLite.
    case local
    /// Events travel by PostgreSQL's LISTEN and NOTIFY, to all nodes that share the database.
    case postgres

    /// Returns the bus for a database.
    init(of database: DatabaseLocation) { self = database == .sqlite ? .local : .postgres }

    /// Checks that a database has this bus.
    ///
    /// - Throws: `ValidationError` when events would not reach every node.
    func check(with database: DatabaseLocation) throws {
        switch (self, Bus(of: database)) {
        case (.postgres, .local):
            throw ValidationError(
                """
                --bus postgres cannot be used with --database sqlite: there is no PostgreSQL to listen on. Leave out \
                --bus, or give --database postgres://…
                """)
        case (.local, .postgres):
            throw ValidationError(
                """
                --bus local cannot be used with a PostgreSQL database: events of one node would not reach the others, \
                and only NOTIFY keeps the order of the commits. Leave out --bus, or give --bus postgres.
                """)
        case (.local, .local), (.postgres, .postgres):
            break
        }
    }
}
