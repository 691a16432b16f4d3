/// Field values of `Content-Disposition` (RFC 6266).
///
/// A name appears twice: as an ASCII approximation for old clients, and exactly, as RFC 8187 `filename*`, which
/// takes precedence. Control characters (line breaks too, so no header can be smuggled in) and characters that
/// reverse the direction of text (which disguise a suffix) are left out, and "/" becomes "_".
public enum ContentDisposition: String, Sendable, Hashable {
    /// To be saved.
    case attachment
    /// To be shown in place.
    case inline

    /// `attachment` with this name: `attachment; filename="a_.txt"; filename*=UTF-8''%C3%A4.txt`.
    public static func attachment(_ filename: String) -> String {
        ContentDisposition.attachment.fieldValue(filename: filename)
    }

    /// The field's value for a file of this name; "file" when nothing is left of it.
    public func fieldValue(filename: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in filename.unicodeScalars where !Self.isInvisible(scalar) {
            name.append(scalar == "/" ? "_" : scalar)
        }
        if name.isEmpty { name = "file".unicodeScalars }
        return "\(rawValue); filename=\"\(Self.approximation(of: name))\"; filename*=UTF-8''\(Self.encoded(name))"
    }

    /// RFC 6266 appendix D: many clients get `\"` and `%41` in a quoted string wrong, so neither is written.
    private static func approximation(of name: String.UnicodeScalarView) -> String {
        var text = ""
        for scalar in name {
            text.unicodeScalars.append(scalar.isASCII && !"\"\\%".unicodeScalars.contains(scalar) ? scalar : "_")
        }
        return text
    }

    /// RFC 8187 §3.2.1: everything but `attr-char` as percent-encoded UTF-8.
    private static func encoded(_ name: String.UnicodeScalarView) -> String {
        String(name).percentEncoded { byte in byte.isLetterOrDigit || "!#$&+-.^_`|~".utf8.contains(byte) }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl
        }
    }
}
