/// A literal of the code, which exists as long as the program.
struct Literal: Sendable, Equatable {
    private let text: StaticString

    init(_ text: StaticString) { self.text = text }

    var count: Int { text.utf8CodeUnitCount }
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: text.utf8Start, count: count) }
    var address: UInt { UInt(bitPattern: text.utf8Start) }

    /// Returns whether the two are the same place of the program.
    static func == (one: Self, other: Self) -> Bool { one.address == other.address && one.count == other.count }
}

/// Text of a statement that the code has made.
final class MadeText: Sendable {
    let bytes: [UInt8]
    fileprivate let digest: UInt64

    init(_ text: String) {
        bytes = Array(text.utf8)
        digest = bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

/// A statement without its values, by which a connection finds what it has prepared. Nothing is copied to look for it.
///
/// Literals are compared by their place in the program. The same text from two places is prepared twice.
struct StatementShape: Hashable {
    private let sql: SQL

    init(of sql: SQL) { self.sql = sql }

    /// The shape with nothing else of the statement, to be kept.
    var withoutValues: StatementShape {
        StatementShape(of: SQL(sql.first, sql.parts.map { if case .value = $0 { .value(.null) } else { $0 } }))
    }

    static func == (one: Self, other: Self) -> Bool {
        let (parts, others) = (one.sql.parts, other.sql.parts)
        guard one.sql.first == other.sql.first, parts.count == others.count else { return false }
        for index in parts.indices {
            switch (parts[index], others[index]) {
            case (.literal(let one), .literal(let other)): if one != other { return false }
            case (.made(let one), .made(let other)): if one !== other, one.bytes != other.bytes { return false }
            case (.value, .value): break
            default: return false
            }
        }
        return true
    }

    func hash(into hasher: inout Hasher) {
        // The addresses and made texts are the code's, so that no client can choose those that collide.
        var sum = UInt64(sql.first.address)
        for part in sql.parts {
            let value =
                switch part {
                case .literal(let literal): UInt64(literal.address)
                case .made(let text): text.digest
                case .value: UInt64(1)
                }
            sum = (sum ^ value) &* 0x9E37_79B9_7F4A_7C15
        }
        hasher.combine(sum)
    }
}
