import ArgumentParser
import Backend

/// What carries events between the nodes of one server.
enum Bus: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Within the process, for the one node that SQLite has.
    case local
    /// PostgreSQL's LISTEN and NOTIFY, for all nodes that share the database.
    case postgres

    /// The bus that a database offers.
    init(of database: DatabaseLocation) { self = database == .sqlite ? .local : .postgres }

    /// - Throws: `ValidationError` when events would not reach every node.
    func check(with database: DatabaseLocation) throws {
        switch (self, Bus(of: database)) {
        case (.postgres, .local):
            throw ValidationError(
                """
                --bus postgres cannot be had with --database sqlite: there is no PostgreSQL to listen on. Leave --bus \
                out, or give --database postgres://…
                """)
        case (.local, .postgres):
            throw ValidationError(
                """
                --bus local cannot be had with a PostgreSQL database: events of one node would not reach the others, \
                and only NOTIFY keeps the order of the commits. Leave --bus out, or give --bus postgres.
                """)
        case (.local, .local), (.postgres, .postgres):
            break
        }
    }
}
