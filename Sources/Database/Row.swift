import Foundation
import GRDB

/// One row of a result, by column index. Valid only inside the closure that receives it.
public struct Row: ~Copyable {
    private let row: GRDB.Row

    init(_ row: GRDB.Row) { self.row = row }

    /// Reads a column as the type that is asked for.
    public func get<T: SQLConvertible>(_ index: Int, as _: T.Type = T.self) throws -> T {
        try T(column: index, of: self)
    }

    public func isNull(_ index: Int) -> Bool { row.hasNull(atIndex: index) }
    func integer(_ index: Int) -> Int64? { row[index] }
    func real(_ index: Int) -> Double? { row[index] }
    func text(_ index: Int) -> String? { row[index] }
    func bytes(_ index: Int) -> [UInt8]? {
        try? row.withUnsafeData(atIndex: index) { $0.map { [UInt8]($0) } }
    }
}
