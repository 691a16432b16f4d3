extension Report {
    /// The report as GitHub-flavoured Markdown, for the summary of a CI job: the sum, a table of the clauses, then the
    /// failures.
    public var markdown: String {
        var lines = [
            "## concord check \(api)", "",
            "\(Self.escaped(url)): \(passed) passed, \(failed) failed, \(skipped) skipped, in \(Self.rounded(seconds)) s",
            "",
            "| Clause | Verdict | Scenarios |", "|---|---|---|",
        ]
        for clause in clauses {
            let sign = [.passed: "ok", .failed: "**broken**", .skipped: "not tried"][clause.outcome] ?? ""
            lines.append("| \(Self.escaped(clause.clause)) | \(sign) | \(clause.sum) |")
        }
        for section in sections {
            lines += ["", "### \(Self.escaped(section.title))", ""] + section.details.map { Self.escaped($0) + "  " }
            if !section.reproduce.isEmpty {
                lines += ["", "```sh"] + section.reproduce.map { $0.replacing("```", with: "'''") } + ["```"]
            }
        }
        for remark in remarks { lines += ["", Self.escaped(remark)] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes what Markdown and HTML would interpret.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case "\n": result += " "
            case "|", "*", "_", "`", "[", "]", "\\", "#": result += "\\\(character)"
            default: result.append(character)
            }
        }
    }
}
