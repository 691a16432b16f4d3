import Backend
import Contract
import Database
import GuestbookAPI

/// The accounts.
public enum Users: PasswordAccountTable {
    public typealias ID = Guestbook.User.ID
    public static let gone = Problem(.unauthorized, "Invalid or expired token")
    public static let wrongSignIn = Problem(.unauthorized, "Wrong name or password")
    public static let wrongPassword = Problem(.forbidden, "Wrong password")
    static let tables = ["CREATE TABLE users (id {ID}, name {KEY} NOT NULL UNIQUE, password TEXT NOT NULL)"]
}

enum Entries {
    static let tables = [
        """
        CREATE TABLE entries (
            id {ID}, author BIGINT NOT NULL REFERENCES users (id), text TEXT NOT NULL, created_at BIGINT NOT NULL)
        """,
        "CREATE INDEX entries_of_author ON entries (author)",
        "CREATE TABLE book (id BIGINT PRIMARY KEY)", "INSERT INTO book (id) VALUES (1)",
    ]
    static let columns: SQL = "id, author, (SELECT name FROM users WHERE users.id = author), text, created_at"

    static func read(_ row: borrowing Row) throws -> Guestbook.Entry {
        let author = Guestbook.User(id: try row.get(1), name: try row.get(2))
        return .init(id: try row.get(0), author: author, text: try row.get(3), createdAt: try row.get(4))
    }
}
