import Contract

/// Finds the rule of one field of a request by trying values: lengths, bounds, formats, and which characters a text may
/// have.
struct FieldProbe {
    let probe: RequestProbe
    let path: JSONPath
    let sample: RequestProbe.Sample
    /// The value that the sample has.
    let value: JSONTree

    private func accepts(_ value: JSONTree) -> Bool { probe.accepts(value, at: path, in: sample) }
    private func accepts(_ text: String) -> Bool { accepts(.string(text)) }

    // MARK: Numbers

    /// Far beyond every rule that a contract has for a number.
    private static let far = 1_000_000_000_000

    func number(_ kind: Schema.Scalar.Kind) -> Schema.Scalar {
        var scalar = Schema.Scalar(kind: kind, format: kind == .integer ? "int64" : nil)
        let known =
            switch value {
            case .integer(let number): Int(number)
            case .number(let number): Int(number.rounded())
            default: value.text.flatMap { Int($0) } ?? 1
            }
        func accepts(_ number: Int) -> Bool {
            self.accepts(value.text == nil ? .integer(Int64(number)) : .string(String(number)))
        }
        if !accepts(-Self.far) {
            scalar.minimum = Self.bound(from: known, to: -Self.far, accepts).map(Double.init)
        }
        if !accepts(Self.far) {
            scalar.maximum = Self.bound(from: known, to: Self.far, accepts).map(Double.init)
        }
        return scalar
    }

    /// Returns the last accepted number on the way from one that is accepted to one that is not.
    private static func bound(from known: Int, to refused: Int, _ accepts: (Int) -> Bool) -> Int? {
        guard accepts(known) else { return nil }
        var (known, refused) = (known, refused)
        while abs(known - refused) > 1 {
            let middle = refused + (known - refused) / 2
            if accepts(middle) { known = middle } else { refused = middle }
        }
        return known
    }

    // MARK: Texts

    /// The longest text that is tried. A rule of more characters is as good as none beside the limit of a body.
    private static let longest = 70_000

    /// A text field's rule.
    ///
    /// - Parameter rule: What the endpoint says of the field, where trying does not find it.
    /// - Returns: The schema; `isExplained` is false when some texts of the right length are refused for a reason that the
    ///   schema does not have.
    func text(_ rule: FieldRule?) -> (scalar: Schema.Scalar, isExplained: Bool, isDayOrTime: Bool) {
        let trimmed = value.text?.trimmed ?? ""
        let known = accepts(trimmed) ? trimmed : value.text ?? ""
        var scalar = Schema.Scalar(kind: .string)
        if let format = format(of: known) {
            scalar.format = format
            if format == "email" || format == "uri" { scalar.maximumLength = maximumLength(known) }
            let isDayOrTime =
                ["date", "date-time"].contains(format) && accepts("2025-10-26")
                && accepts("2025-10-26T10:00:00Z")
            return (scalar, true, isDayOrTime)
        }
        scalar.minimumLength = minimumLength(known)
        scalar.maximumLength = maximumLength(known)
        let minimum = scalar.minimumLength ?? 0
        let plain = String(repeating: "a", count: max(minimum, min(known.length, scalar.maximumLength ?? known.length)))
        let isExplained = rule != nil || accepts(plain)
        if rule == nil, isExplained { scalar.pattern = pattern(minimum, scalar.maximumLength) }
        return (scalar, isExplained, false)
    }

    /// The texts of a length that are tried: the known text made longer or shorter.
    private static func texts(_ length: Int, like known: String) -> [String] {
        let missing = length - known.length
        if missing >= 0 {
            let filler = String(repeating: "a", count: missing)
            return [filler + known, known + filler]
        }
        let scalars = Array(known.unicodeScalars)
        return [scalars.prefix(length), scalars.suffix(length)].map { part in
            var text = String.UnicodeScalarView()
            text.append(contentsOf: part)
            return String(text)
        } + [String(repeating: "a", count: length)]
    }

    private func minimumLength(_ known: String) -> Int? {
        if accepts("") { return nil }
        return (1...max(1, known.length)).first { length in Self.texts(length, like: known).contains(where: accepts) }
    }

    private func maximumLength(_ known: String) -> Int? {
        func accepts(_ length: Int) -> Bool { Self.texts(length, like: known).contains(where: self.accepts) }
        // Long texts take long, so they are tried only where shorter ones are accepted.
        var accepted = max(known.length, 1)
        while accepted < Self.longest {
            let next = min(accepted * 2, Self.longest)
            guard accepts(next) else { return Self.bound(from: accepted, to: next, accepts) }
            accepted = next
        }
        return nil
    }

    /// Returns the format that a text has, if it must have it.
    private func format(of known: String) -> String? {
        guard !accepts(String(repeating: "a", count: max(known.length, 1))) else { return nil }
        if let format = Components.format(of: known) { return format }
        if known.contains("@"), !accepts(known.replacing("@", with: "a")) { return "email" }
        return known.hasPrefix("http") ? "uri" : nil
    }

    // MARK: Characters

    /// The characters that no name may have: control characters, those that change how their neighbours are displayed,
    /// and those that look blank. Unicode has some more beyond its first plane.
    private static let hidden =
        #"\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f\u1160\u17b4\u17b5\u180e\u200b"#
        + #"\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"#
    /// The characters that join others. Names have them in emoji and between letters, usernames nowhere.
    private static let joiners = #"\u200c\u200d"#
    /// The characters of ASCII that are neither letters nor digits.
    private static let signs = Array(" !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".unicodeScalars)

    /// The characters that a text may have, as the inside of a class of a regular expression.
    private enum Characters {
        case all
        /// All but these.
        case allBut(String)
        /// These alone.
        case only(String)
    }

    /// Returns a text of a length with characters in its middle.
    private static func text(_ length: Int, with inner: some Sequence<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView("a".unicodeScalars)
        text.append(contentsOf: inner)
        while text.count < length { text.append("a") }
        return String(text)
    }

    /// Finds the characters that a text may have, by one text with all signs, and by one for each where that is refused.
    private func characters(_ minimum: Int, _ maximum: Int?) -> Characters {
        func accepts(_ scalars: some Sequence<Unicode.Scalar>) -> Bool {
            self.accepts(Self.text(max(minimum, 3), with: scalars))
        }
        let isNameLike = !accepts("\u{200E}a".unicodeScalars)
        let hasJoiners = accepts("👩\u{200D}👩".unicodeScalars)
        let count = max((maximum ?? 100) - 2, 1)
        let chunks = stride(from: 0, to: Self.signs.count, by: count).map { Self.signs[$0...].prefix(count) }
        let refused = chunks.allSatisfy(accepts) ? [] : Self.signs.filter { !accepts([$0]) }
        if !accepts(["é"]) {
            let signs = Self.signs.filter { !refused.contains($0) }
            return .only("A-Za-z0-9" + Self.escaped(signs))
        }
        if !isNameLike, refused.isEmpty { return .all }
        return .allBut((isNameLike ? Self.hidden + (hasJoiners ? "" : Self.joiners) : "") + Self.escaped(refused))
    }

    private static func escaped(_ signs: [Unicode.Scalar]) -> String {
        signs.map { "\\]^-".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    private func pattern(_ minimum: Int, _ maximum: Int?) -> String? {
        let characters = characters(minimum, maximum)
        let (all, trimmed, visible) =
            switch characters {
            case .all: (#"[\s\S]"#, #"\S"#, FieldRule.visible)
            case .allBut(let some): ("[^\(some)]", #"[^\s\#(some)]"#, "[^\(FieldRule.blank)\(some)]")
            case .only(let some):
                ("[\(some)]", "[\(some.filter { $0 != " " })]", "[\(some.filter { $0 != " " })]")
            }
        guard minimum > 0, !accepts(String(repeating: " ", count: minimum)) else {
            if case .all = characters { return nil }
            return "^\(all)*$"
        }
        // Blanks at the ends do not count, so a text of the least length has none.
        if minimum > 1, !accepts(" " + String(repeating: "a", count: minimum - 1)) {
            if case .only(let some) = characters, !some.contains(" ") { return "^\(all)*$" }
            return "^\(trimmed)\(all)*\(trimmed)$"
        }
        if case .all = characters { return visible }
        return visible == all ? "^\(all)*$" : "^\(all)*\(visible)\(all)*$"
    }
}
