import GRDB

// Queries whose values are written into their text, as `execute(literal:)` has it.

extension Row {
    static func fetchAll(_ db: Database, literal: SQL) throws -> [Row] {
        try SQLRequest<Row>(literal: literal).fetchAll(db)
    }

    static func fetchOne(_ db: Database, literal: SQL) throws -> Row? {
        try SQLRequest<Row>(literal: literal).fetchOne(db)
    }
}

extension DatabaseValueConvertible {
    static func fetchOne(_ db: Database, literal: SQL) throws -> Self? {
        try SQLRequest<Self>(literal: literal).fetchOne(db)
    }
}
