import Foundation

extension Report {
    /// The report for people: a line for each clause, then every failure with its requests, then the sum. Scenarios that
    /// failed for the same reason are one failure.
    public var text: String {
        var lines = ["\(api) at \(url)", ""]
        let width = clauses.map(\.clause.count).max() ?? 0
        for clause in clauses {
            let sign = [.passed: "ok    ", .failed: "BROKEN", .skipped: "-     "][clause.outcome] ?? ""
            let name = clause.clause.padding(toLength: width, withPad: " ", startingAt: 0)
            lines.append("\(sign)  \(name)  \(clause.sum)")
        }
        for (index, section) in sections.enumerated() {
            lines += ["", "\(index + 1). \(section.title)"] + section.details.map { "   \($0)" }
            if !section.reproduce.isEmpty { lines += ["   to repeat:"] + section.reproduce.map { "     \($0)" } }
        }
        lines.append("")
        lines += remarks
        lines.append(
            "\(scenarios.count) scenarios: \(passed) passed, \(failed) failed, \(skipped) skipped,"
                + " in \(Self.rounded(seconds)) s")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Sentences about the run as a whole: what it left behind, why scenarios were skipped, why it ended early.
    var remarks: [String] {
        var sentences: [String] = []
        if !leftBehind.isEmpty {
            let things = leftBehind.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            sentences.append("Left on the server: \(things.joined(separator: ", ")).")
        }
        let reasons = Dictionary(grouping: scenarios.compactMap(\.reason).filter { $0 != ended }) { $0 }.mapValues(
            \.count)
        for (reason, count) in reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            sentences.append("\(count) skipped: \(reason).")
        }
        if let ended { sentences.append("Ended early: \(ended).") }
        return sentences
    }

    /// A failure as people read it, or several of one cause.
    struct Section {
        let title: String
        let details: [String]
        let reproduce: [String]
    }

    /// The failures, those of common causes first.
    var sections: [Section] {
        let causes = causes
        let common = Set(causes.flatMap { $0.scenarios.map(\.name) })
        return causes.map { cause in
            let clauses = Set(cause.scenarios.map(\.clause)).count
            let first = cause.scenarios.prefix(3).map { "\"\($0.name)\"" }.joined(separator: ", ")
            return Section(
                title: "\(cause.scenarios.count) scenarios stopped" + (cause.operation.map { " at \($0)" } ?? ""),
                details: cause.failure.difference
                    + ["They are of \(clauses) clauses: \(first)" + (cause.scenarios.count > 3 ? " …" : "")],
                reproduce: cause.failure.reproduce)
        }
            + scenarios.compactMap { verdict in
                guard let failure = verdict.failure, !common.contains(verdict.name) else { return nil }
                return Section(
                    title: verdict.name,
                    details: [verdict.clause + (failure.place.map { " (\($0))" } ?? "")] + failure.difference,
                    reproduce: failure.reproduce)
            }
    }

    /// The report for programs. The members are those of ``Report``, ``Verdict`` and ``Failure``.
    public var json: String { readableJSON(self) }

    /// The report for CI: the XML of JUnit's Ant task, which most servers read. A clause is a class, a scenario its
    /// case.
    public var junit: String {
        let counts = #"tests="\#(scenarios.count)" failures="\#(failed)" errors="0" skipped="\#(skipped)""#
        let time = "time=\"\(Self.rounded(seconds, digits: 3))\""
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            "<testsuites \(counts) \(time)>",
            "  <testsuite name=\(XML.attribute("concord check \(api)")) \(counts) \(time)>",
            "    <properties>",
            "      <property name=\"url\" value=\(XML.attribute(url))/>",
            "      <property name=\"level\" value=\(XML.attribute(level.rawValue))/>",
            "    </properties>",
        ]
        for verdict in scenarios {
            let head =
                "    <testcase classname=\(XML.attribute("\(api) \(verdict.clause)"))"
                + " name=\(XML.attribute(verdict.name)) time=\"\(Self.rounded(verdict.seconds, digits: 3))\""
            switch verdict.outcome {
            case .passed:
                lines.append(head + "/>")
            case .skipped:
                lines.append(head + "><skipped message=\(XML.attribute(verdict.reason ?? ""))/></testcase>")
            case .failed:
                let failure = verdict.failure ?? Failure(message: "")
                let details = [failure.place].compactMap(\.self) + failure.reproduce
                lines.append(
                    head + "><failure type=\"broken\" message=\(XML.attribute(failure.summary))>"
                        + "\(XML.escaped(details.joined(separator: "\n")))</failure></testcase>")
            }
        }
        lines += ["  </testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    static func rounded(_ seconds: Double, digits: Int = 1) -> String {
        String(format: "%.\(digits)f", locale: Locale(identifier: "en_US_POSIX"), seconds)
    }
}

extension Report.Clause {
    /// The sum, such as `3 passed, 1 failed`.
    var sum: String {
        [(passed, "passed"), (failed, "failed"), (skipped, "skipped"), (notTried, "not tried")].filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}

extension Failure {
    /// The difference as lines.
    fileprivate var difference: [String] {
        (message.isEmpty ? [] : [message]) + (expected.map { ["expected: \($0)"] } ?? [])
            + (found.map { ["found:    \($0)"] } ?? [])
    }

    /// The sum with the level and the duration, on one line.
    public var summary: String {
        var parts = message.isEmpty ? [] : [message]
        if let expected, let found { parts.append("expected \(expected), found \(found)") }
        return parts.joined(separator: ": ")
    }
}

extension Checklist {
    /// A list of `{"clause", "level", "name"}`.
    public static func json(_ items: [Item]) -> String {
        readableJSON(items.map { ["clause": $0.clause, "level": $0.level.rawValue, "name": $0.name] })
    }
}

private func readableJSON(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("these values are always JSON") }
    return String(decoding: data, as: UTF8.self) + "\n"
}

private enum XML {
    static func attribute(_ text: String) -> String {
        let escaped = escaped(text).replacingOccurrences(of: "\"", with: "&quot;")
        return "\"" + escaped.replacingOccurrences(of: "\n", with: "&#10;") + "\""
    }

    /// Escapes a text. Characters that XML 1.0 cannot represent become U+FFFD.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\n", "\t", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                result.append(scalar)
            default: result.append("\u{FFFD}")
            }
        }
        return String(result)
    }
}
