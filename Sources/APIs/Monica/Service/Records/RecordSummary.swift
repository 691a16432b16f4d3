/// The summary of an import of records for its operator.
struct RecordSummary {
    let report: MonicaService.RecordReport

    /// The most refusals that are listed; the others are only counted.
    private static let longestList = 1000

    var text: String {
        var lines: [String] = []
        for kind in ImportedRecord.Kind.allCases {
            let (new, known) = (report.imported[kind] ?? 0, report.known[kind] ?? 0)
            guard new + known > 0 else { continue }
            lines.append("\(kind.counted(new)) imported" + (known > 0 ? ", \(known) there already" : ""))
        }
        if report.unstored > 0 {
            let (photos, them) =
                report.unstored == 1
                ? ("1 photo or document was", "it") : ("\(report.unstored) photos and documents were", "them")
            lines.append(
                "\(photos) not imported, because no server of this data folder runs that could store \(them): start it, and import the file again"
            )
        }
        if lines.isEmpty { lines.append("The file has no records") }
        if !report.leftOut.isEmpty {
            lines.append("Not imported, because there is no place for it (number of records):")
            lines += report.leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                "  \($0.key): \($0.value)"
            }
        }
        if !report.refused.isEmpty {
            lines.append("Not imported, because a rule refuses it:")
            lines += report.refused.prefix(Self.longestList).map {
                // The paths come from a file, so characters are escaped that could move a terminal's cursor.
                "  \($0.path.debugDescription.dropFirst().dropLast()): \($0.reason)"
            }
            if report.refused.count > Self.longestList {
                lines.append("  and \(report.refused.count - Self.longestList) more")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
