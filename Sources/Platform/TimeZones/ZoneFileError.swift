/// The reason why a zone file cannot be used.
public enum ZoneFileError: Error, Equatable, CustomStringConvertible {
    /// The file does not begin as RFC 9636 says.
    case otherFormat
    /// The file ends before its header says.
    case cutShort
    /// The file counts leap seconds, which the times of servers do not.
    case leapSeconds
    /// A value that RFC 9636 forbids.
    case malformed(String)

    public var description: String {
        switch self {
        case .otherFormat: "it is not a zone file"
        case .cutShort: "it ends too early"
        case .leapSeconds: "it counts leap seconds"
        case .malformed(let what): "its \(what) cannot be right"
        }
    }
}
