import CLibPQ

/// A statement as libpq sends it.
enum PostgreSQLStatement {
    /// A statement that the server has prepared under a name, with its values.
    case prepared(_ name: String, [SQLValue])
    /// A statement that the server prepares for this time alone, with its values.
    case unprepared(String, [SQLValue])
    case bare(String)

    /// Waits for the result.
    func execute(on handle: OpaquePointer) -> OpaquePointer? {
        switch self {
        case .prepared(let name, let values):
            Self.withParameters(values) { PQexecPrepared(handle, name, $0, $1, $2, $3, 0) }
        case .unprepared(let text, let values):
            Self.withParameters(values) { PQexecParams(handle, text, $0, nil, $1, $2, $3, 0) }
        case .bare(let text): PQexec(handle, text)
        }
    }

    /// Returns false when the statement could not be sent.
    func send(on handle: OpaquePointer) -> Bool {
        switch self {
        case .prepared(let name, let values):
            Self.withParameters(values) { PQsendQueryPrepared(handle, name, $0, $1, $2, $3, 0) } == 1
        case .unprepared(let text, let values):
            Self.withParameters(values) { PQsendQueryParams(handle, text, $0, nil, $1, $2, $3, 0) } == 1
        case .bare(let text): PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0) == 1
        }
    }

    /// Passes the values in the form that libpq takes: their number, addresses, lengths and formats.
    private static func withParameters<T>(
        _ values: [SQLValue],
        _ body: (
            _ count: Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> T
    ) -> T {
        // All values are in one block, each ended by a NUL; the pointers are valid while the block does not move.
        var block: [CChar] = []
        var offsets: [Int?] = []
        var lengths: [Int32] = []
        var formats: [Int32] = []
        for value in values {
            let start = block.count
            var format: Int32 = 0
            switch value {
            case .null: break
            case .integer(let integer): block.append(contentsOf: String(integer).utf8.lazy.map(CChar.init(bitPattern:)))
            case .real(let real): block.append(contentsOf: real.description.utf8.lazy.map(CChar.init(bitPattern:)))
            case .text(let text): block.append(contentsOf: text.utf8.lazy.map(CChar.init(bitPattern:)))
            case .bytes(let bytes):
                block.append(contentsOf: bytes.lazy.map(CChar.init(bitPattern:)))
                format = 1
            }
            if case .null = value { offsets.append(nil) } else { offsets.append(start) }
            lengths.append(Int32(block.count - start))
            formats.append(format)
            block.append(0)
        }
        return block.withUnsafeBufferPointer { block in
            let pointers = offsets.map { offset in offset.map { UnsafePointer(block.baseAddress! + $0) } }
            return body(Int32(values.count), pointers, lengths, formats)
        }
    }
}

/// One of the server's processes that may still commit a transaction.
struct ServerProcess: Equatable {
    let id: Int
    /// The time at which the transaction began, in seconds since 1970 as the server prints them. It is known where the process
    /// works for others afterwards; nil elsewhere.
    let transaction: String?
}
