/// The rules of the texts that operators write, on the command line and on the operator's page.
public enum OperatorTexts {
    /// Returns what is wrong with a reason, behind its name: "is empty". It is in the audit, and a person who is suspended
    /// reads it.
    public static func mistake(inReason text: String) -> String? { mistake(in: text, limit: 300, "300") }

    /// Returns what is wrong with a note on a report, behind its name.
    public static func mistake(inNote text: String) -> String? { mistake(in: text, limit: 2000, "2,000") }

    /// Returns what is wrong with an operator's name, behind the word for it.
    public static func mistake(inName text: String) -> String? {
        if let mistake = mistake(in: text, limit: 64, "64") { return mistake }
        let isPlain = text.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0.properties.generalCategory != .control
        }
        return isPlain ? nil : "has a space or a control character"
    }

    private static func mistake(in text: String, limit: Int, _ written: String) -> String? {
        if text.allSatisfy(\.isWhitespace) { return "is empty" }
        return text.count > limit ? "has more than \(written) characters" : nil
    }
}
