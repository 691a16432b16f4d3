/// Writes vCards of version 4.0 (RFC 6350).
struct VCardWriter {
    private(set) var text = ""

    mutating func begin() { text += "BEGIN:VCARD\r\nVERSION:4.0\r\n" }
    mutating func end() { text += "END:VCARD\r\n" }

    /// Writes a property whose value is one text.
    mutating func write(_ name: String, text value: String) { fold(name + ":" + Self.escape(value)) }

    /// Writes a property with components, such as `N`.
    mutating func write(_ name: String, components: [String]) {
        fold(name + ":" + components.map(Self.escape).joined(separator: ";"))
    }

    /// Writes a property whose value is a list of texts.
    mutating func write(_ name: String, list elements: [String]) {
        fold(name + ":" + elements.map(Self.escape).joined(separator: ","))
    }

    /// Writes a property whose value needs no escapes, such as a date.
    mutating func write(_ name: String, plain value: String) { fold(name + ":" + value) }

    private static func escape(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var wasReturn = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", ",", ";":
                result.append("\\")
                result.append(scalar)
            case "\n": if !wasReturn { result.append(contentsOf: "\\n".unicodeScalars) }
            case "\r": result.append(contentsOf: "\\n".unicodeScalars)
            default: result.append(scalar)
            }
            wasReturn = scalar == "\r"
        }
        return String(result)
    }

    /// Appends a line folded to at most 75 bytes; no character is split.
    private mutating func fold(_ line: String) {
        var room = 75
        for scalar in line.unicodeScalars {
            let size = UTF8.width(scalar)
            if size > room {
                text += "\r\n "
                room = 74
            }
            text.unicodeScalars.append(scalar)
            room -= size
        }
        text += "\r\n"
    }
}
