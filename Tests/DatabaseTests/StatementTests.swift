import Testbed
import Testing

@testable import Database

/// Statements are put together from parts, and found by them.
@Suite(.timeLimit(.minutes(30))) struct StatementTests {
    private func names(of id: Int, in table: SQL = "users") -> SQL { "SELECT name FROM \(table) WHERE id = \(id)" }

    @Test func aTextHasAMarkForEachValue() {
        let condition: SQL = "name = \("x") AND age > \(3)"
        let sql: SQL = "\(SQL(trusted: "SELECT"))\(" " as SQL)* FROM t WHERE \(condition) OR id IN (\(list: [1, 2]))-"
        #expect(sql.text == "SELECT * FROM t WHERE name = ? AND age > ? OR id IN (?, ?)-")
        #expect(sql.values == [.text("x"), .integer(3), .integer(1), .integer(2)])
        #expect(("" as SQL).text == "")
        #expect(("\(nil as Int?)" as SQL).text == "?")
        #expect(("\(values: [.null, .real(1)]) \(joined: ["a", "b"])" as SQL).text == "?, ? a, b")
    }

    @Test func aStatementIsFoundWhateverItsValuesAre() {
        let shapes = [1, 2].map { StatementShape(of: names(of: $0)) }
        #expect(shapes[0] == shapes[1])
        #expect(shapes[0].hashValue == shapes[1].hashValue)
        #expect(shapes[0].withoutValues == shapes[1])
        #expect(shapes[0].withoutValues.hashValue == shapes[1].hashValue)
    }

    @Test func anotherTextIsAnotherStatement() {
        let shape = StatementShape(of: names(of: 1))
        #expect(shape != StatementShape(of: names(of: 1, in: "groups")))
        #expect(shape != StatementShape(of: "SELECT name FROM users"))
        #expect(shape != StatementShape(of: names(of: 1, in: SQL(trusted: "groups"))))
        #expect(StatementShape(of: "a\(1)") != StatementShape(of: "a\(list: [1, 2])"))
    }

    private enum Column: String, Columns {
        case number, text
        case next = "number + 1"
        case last = "COALESCE(text, 'none')"

        static let list = ColumnList(Self.self)
    }

    private enum OneColumn: String, Columns {
        case text

        static let list = ColumnList(Self.self)
    }

    @Test func columnsHaveTheirPlaces() {
        #expect(
            ("SELECT \(Column.list) FROM t" as SQL).text
                == "SELECT number, text, number + 1, COALESCE(text, 'none') FROM t")
        #expect(Column.allCases.map(\.place) == [0, 1, 2, 3])
        #expect(Column.list.count == 4)
        #expect(OneColumn.text.place == 0 && OneColumn.list.count == 1)
        let shapes = [1, 2].map { StatementShape(of: "SELECT \(Column.list) FROM t WHERE number = \($0)") }
        #expect(shapes[0] == shapes[1])
    }

    @Test(arguments: Stack.Engine.available)
    func columnsAreReadByTheirNames(_ engine: Stack.Engine) async throws {
        let table = "CREATE TABLE t (number BIGINT NOT NULL, text TEXT)"
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Schema("columns", [.init("t", [table])]))
            let rows = try await database.write { db in
                try db.run("INSERT INTO t (number, text) VALUES (1, \("a")), (2, NULL)")
                return try db.all("SELECT 7, \(Column.list), \(OneColumn.list) FROM t ORDER BY number") { row in
                    let next: Int = try row.get(Column.next, behind: 1)
                    let text: String? = try row.get(OneColumn.text, behind: 1 + Column.list.count)
                    return "\(next) \(text ?? "-") \(try row.get(Column.last, behind: 1, as: String.self))"
                }
            }
            #expect(rows == ["2 a a", "3 - none"])
            let isNull = try await database.read { db in
                try db.all("SELECT \(Column.list) FROM t ORDER BY number") { $0.isNull(Column.text) }
            }
            #expect(isNull == [false, true])
            try await database.close()
        }
    }

    @Test func listsOfAnyLengthAreFewStatements() {
        let lists = (1...100).map { "SELECT 1 FROM t WHERE id IN (\(list: Array(1...$0)))" as SQL }
        #expect(Set(lists.map { StatementShape(of: $0).withoutValues }).count == 8)
        for (length, list) in zip(1..., lists) {
            #expect(list.values.count.nonzeroBitCount == 1 && list.values.count < 2 * length)
            #expect(list.values == (1...list.values.count).map { .integer(Int64(min($0, length))) })
        }
        #expect(("\(list: [Int]())" as SQL).text == "NULL")
    }

    @Test func madeTextIsComparedByItsContent() {
        let shape = StatementShape(of: SQL(trusted: "SELECT \("a")"))
        #expect(shape == StatementShape(of: SQL(trusted: "SELECT a")))
        #expect(shape.hashValue == StatementShape(of: SQL(trusted: "SELECT a")).hashValue)
        #expect(shape != StatementShape(of: SQL(trusted: "SELECT b")))
    }
}
