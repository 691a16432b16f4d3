import Foundation

/// The summary of an import for its operator.
struct ImportSummary {
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    /// The most remarks of one kind that are listed; the others are only counted.
    private static let longestList = 1000

    init(_ result: MonicaService.ImportResult, _ findings: CardFile.Findings) {
        lines.append("\(Self.count(result.contacts, "contact")) imported")
        if result.updated > 0 { lines.append("\(Self.count(result.updated, "contact")) changed by newer cards") }
        let edited = Self.count(result.edited.count, "newer card")
        list(
            result.edited,
            "\(edited) skipped, because the contact was changed here in the meantime (--overwrite changes it anyway):"
        )
        if result.known > 0 {
            lines.append("\(Self.count(result.known, "card")) skipped: the UID is known, and the card is no newer")
        }
        if result.repeated > 0 {
            lines.append("\(Self.count(result.repeated, "card")) without a UID skipped: imported before")
        }
        list(
            result.doubled,
            "\(Self.count(result.doubled.count, "card")) skipped, because the file has another card of the contact:")
        if findings.groups > 0 {
            lines.append("\(Self.count(findings.groups, "card")) left out: groups, not people")
        }
        if !result.nameless.isEmpty {
            let places = result.nameless.prefix(10).map(String.init).joined(separator: ", ")
            let more = result.nameless.count > 10 ? " …" : ""
            let place = result.nameless.count == 1 ? "line" : "lines"
            let cards = Self.count(result.nameless.count, "card")
            lines.append("\(cards) without a name left out, at \(place) \(places)\(more)")
        }
        list(result.cut, "\(Self.count(result.cut.count, "contact")) with a text that was too long and was truncated:")
        if !findings.unreadable.isEmpty {
            lines.append("Left out, because they cannot be read:")
            for skipped in findings.unreadable.prefix(Self.longestList) {
                let (first, last) = (skipped.lines.lowerBound, skipped.lines.upperBound)
                lines.append("  \(first == last ? "line \(first)" : "lines \(first) to \(last)"): \(skipped.reason)")
            }
            more(findings.unreadable.count)
        }
        if !findings.unreadableCharsets.isEmpty {
            lines.append("Left out, because the character set is not known or the text is not of it (number of texts):")
            lines += Self.sorted(findings.unreadableCharsets)
        }
        if !result.leftOut.isEmpty {
            lines.append("Not imported, because contacts cannot store them (number of cards):")
            lines += Self.sorted(result.leftOut)
        }
    }

    private mutating func list(_ remarks: [MonicaService.ImportResult.Remark], _ title: String) {
        guard !remarks.isEmpty else { return }
        lines.append(title)
        for remark in remarks.prefix(Self.longestList) {
            // The name comes from a file, so characters are escaped that could move a terminal's cursor.
            let words = remark.words.isEmpty ? "" : ": \(remark.words)"
            lines.append("  line \(remark.line), \(remark.name.debugDescription)\(words)")
        }
        more(remarks.count)
    }

    private mutating func more(_ count: Int) {
        if count > Self.longestList { lines.append("  and \(count - Self.longestList) more") }
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private static func sorted(_ counts: [String: Int]) -> [String] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "  \($0.key): \($0.value)" }
    }
}
