import Foundation

/// A field's value with parameters, such as that of `Content-Disposition` and `Content-Type`: `value; name=token;
/// name="quoted \" text"`.
package struct HeaderParameters {
    /// The text before the parameters.
    package let value: String
    /// The parameters, with their names in lower case. Of a repeated name, the first counts.
    package private(set) var parameters: [String: String] = [:]

    package init(_ field: some StringProtocol) {
        var rest = Substring(field)
        let value = rest.prefix { $0 != ";" }
        rest = rest.dropFirst(value.count)
        self.value = value.trimmingCharacters(in: .whitespaces)
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let text = rest.first == "\"" ? Self.quoted(&rest) : Self.token(&rest)
            let key = name.trimmingCharacters(in: .whitespaces).lowercased()
            if parameters[key] == nil { parameters[key] = text }
        }
    }

    private static func token(_ rest: inout Substring) -> String {
        let text = rest.prefix { $0 != ";" }
        rest = rest[text.endIndex...]
        return text.trimmingCharacters(in: .whitespaces)
    }

    /// Takes a quoted text and what follows it, up to the next parameter.
    private static func quoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst() {
            if character == "\"" {
                // Clients that escape nothing write quotes as they are. Such a quote ends nothing.
                let next = rest.drop { $0 == " " || $0 == "\t" }
                if next.isEmpty || next.first == ";" {
                    rest = next
                    break
                }
                text.append(character)
            } else if character == "\\", rest.first == "\"" || rest.first == "\\" {
                // Browsers leave a backslash of a Windows path as it is; only a quoted quote is an escape.
                text.append(rest.removeFirst())
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// The name of a file: that of `filename*` (RFC 8187), which comes before that of `filename`; nil if there is neither.
    package var filename: String? { parameters["filename*"].flatMap(Self.decoded) ?? parameters["filename"] }

    /// The name of a form's file. Browsers write `%22`, `%0D` and `%0A` in `filename` for what would end the quotes or the
    /// line (WHATWG HTML, "multipart/form-data encoding algorithm"). They encode nothing else, not even "%".
    package var formFilename: String? {
        if let extended = parameters["filename*"].flatMap(Self.decoded) { return extended }
        guard let name = parameters["filename"], name.utf8.contains(UInt8(ascii: "%")) else {
            return parameters["filename"]
        }
        return name.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    /// Decodes an extended value, `UTF-8'en'na%C3%AFve`; nil if it is malformed or has another charset than UTF-8 and
    /// ISO-8859-1 (RFC 8187 §3.2).
    private static func decoded(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(parts[2].utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}
