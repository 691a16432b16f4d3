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
