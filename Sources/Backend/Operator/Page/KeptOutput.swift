import Foundation
import NIOConcurrencyHelpers

/// A console that keeps what a command prints, for an answer of the operator's page.
final class KeptOutput: OperatorConsole {
    /// The most bytes that are kept.
    static let limit = 16 << 20

    private let kept = NIOLockedValueBox<[UInt8]>([])

    func write(_ bytes: [UInt8]) async throws {
        try kept.withLockedValue { kept in
            guard kept.count + bytes.count <= Self.limit else {
                throw OperatorError("The answer has more than 16 MiB: ask for less")
            }
            kept += bytes
        }
    }

    func show(_ done: Int, of total: Int) async throws {}
    func read() async throws -> [UInt8]? { nil }

    var bytes: [UInt8] { kept.withLockedValue { $0 } }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The lines of JSON as one array.
    var array: [UInt8] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return Array("[".utf8) + lines.joined(separator: [UInt8(ascii: ",")]) + Array("]".utf8)
    }
}
