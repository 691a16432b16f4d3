import Foundation

/// A line of the table.
struct Row {
    /// The aim of a figure.
    enum Aim {
        case atMost(Double)
        case atLeast(Double)
        /// The ratio to the floor has to be at least this.
        case ratioAtLeast(Double)
        case none
    }

    let name: String
    let unit: String
    let result: Double
    var floor: Double?
    /// A description of the floor.
    var beside = ""
    var aim = Aim.none

    var ratio: Double? { floor.map { result / $0 } }

    fileprivate var cells: [String] {
        [
            name, Self.number(result) + " " + unit, floor.map { Self.number($0) + " " + unit } ?? "",
            ratio.map(Self.number) ?? "", aimText, beside,
        ]
    }

    private var aimText: String {
        switch aim {
        case .atMost(let limit): "≤ \(Self.number(limit)) \(unit)" + verdict(result <= limit)
        case .atLeast(let limit): "≥ \(Self.number(limit)) \(unit)" + verdict(result >= limit)
        case .ratioAtLeast(let limit): "ratio ≥ \(Self.number(limit))" + verdict((ratio ?? 0) >= limit)
        case .none: ""
        }
    }

    private func verdict(_ isMet: Bool) -> String { isMet ? "  met" : "  MISSED" }

    /// Returns a number with three significant digits and separators between thousands.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "?" }
        if value < 10 { return String(format: "%.2f", value) }
        if value < 100 { return String(format: "%.1f", value) }
        var digits = Array(String(Int(value.rounded())))
        for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
        return String(digits)
    }
}

struct Report {
    var rows: [Row] = []

    var text: String {
        let table = [["name", "result", "floor", "ratio", "aim", "the floor is"]] + rows.map(\.cells)
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { cells in
            zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ").trimmedAtEnd
        }.joined(separator: "\n")
    }

    /// Writes a line of progress to standard error. Only the table goes to standard output.
    static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}
