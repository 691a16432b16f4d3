import Contract
import ContractServer
import Database

/// The row of an answer that is stored by a statement for many writes (`SharedWrites`), as a part of that statement's
/// input.
///
/// The statement reads its input with `json_to_recordset`; ``columns`` are the types of these members there.
public struct SharedAnswer: Encodable, Sendable {
    private let scope: String
    private let key: String
    private let fingerprint: String
    private let status: Int
    private let answer: String

    /// The columns of the input, for the definition of its rows.
    public static let columns: SQL = "scope TEXT, key TEXT, fingerprint TEXT, status INT, answer TEXT"

    /// The condition for a row `i` of the input: it has no key, or its key has not been used.
    public static let isFirst: SQL =
        "NOT EXISTS (SELECT 1 FROM once_only o WHERE o.scope = i.scope AND o.key = i.key)"

    /// Returns the statement that stores the answers of a table with the input's columns and the column `at`. When a key
    /// is used at the same time elsewhere, it fails.
    public static func insertion(from table: SQL) -> SQL {
        """
        INSERT INTO once_only (scope, key, fingerprint, status, body, created_at)
        SELECT scope, key, decode(fingerprint, 'hex'), status, convert_to(answer, 'UTF8'), at
        FROM \(table) WHERE key IS NOT NULL
        """
    }

    /// Encodes an answer, as it is stored.
    ///
    /// - Returns: The row for the key; and the answer with the encoded content, which a repeat gets, too.
    public static func encode<Output: Encodable & Sendable>(
        _ answer: Answer<Output>, _ key: IdempotencyKey
    ) throws -> (row: SharedAnswer, answer: Answer<Output>) {
        guard case .output(let output) = answer.content else {
            throw DatabaseFailure.failed("an answer is encoded already")
        }
        let body = Array(try JSONBody.encode(output).readableBytesView)
        let row = SharedAnswer(
            scope: key.scope, key: key.text, fingerprint: hexadecimal(key.fingerprint), status: answer.status.code,
            answer: String(decoding: body, as: UTF8.self))
        return (row, Answer(answer.status, encoded: body, headers: answer.headers))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
