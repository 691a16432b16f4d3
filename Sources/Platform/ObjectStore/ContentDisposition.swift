/// Builds field values of `Content-Disposition` (RFC 6266).
///
/// A name appears twice: as an ASCII approximation for old clients, and exactly, as RFC 8187 `filename*`, which takes
/// precedence. Control characters are left out, so that no header can be injected by a line break, and so are
/// characters that reverse the direction of text, which can disguise a suffix. "/" becomes "_".
public enum ContentDisposition: String, Sendable, Hashable {
    /// The client saves the file.
    case attachment
    /// The client shows the file.
    case inline

    /// Returns `attachment` with this name: `attachment; filename="a_.txt"; filename*=UTF-8''%C3%A4.txt`.
    public static func attachment(_ filename: String) -> String {
        ContentDisposition.attachment.fieldValue(filename: filename)
    }

    /// Returns the field's value for a file of this name; the name is "file" when nothing is left of it.
    public func fieldValue(filename: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in filename.unicodeScalars where !Self.isInvisible(scalar) {
            name.append(scalar == "/" ? "_" : scalar)
        }
        if name.isEmpty { name = "file".unicodeScalars }
        return "\(rawValue); filename=\"\(Self.approximation(of: name))\"; filename*=UTF-8''\(Self.encoded(name))"
    }

    /// Returns an ASCII approximation. Many clients parse `\"` and `%41` in a quoted string wrongly, so neither is
    /// written (RFC 6266 appendix D).
    private static func approximation(of name: String.UnicodeScalarView) -> String {
        var text = ""
        for scalar in name {
            text.unicodeScalars.append(scalar.isASCII && !"\"\\%".unicodeScalars.contains(scalar) ? scalar : "_")
        }
        return text
    }

    private static let literals = ByteSet(lettersDigitsAnd: "!#$&+-.^_`|~")

    /// Returns everything but `attr-char` as percent-encoded UTF-8 (RFC 8187 §3.2.1).
    private static func encoded(_ name: String.UnicodeScalarView) -> String {
        String(name).percentEncoded(leaving: literals)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl
        }
    }
}
