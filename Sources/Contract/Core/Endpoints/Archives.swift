/// The state of an archive with all that a server keeps of a person. A newer server may have more; treat those as `preparing`.
public struct ArchiveState: OpenEnumeration {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The server is making it.
    public static let preparing = ArchiveState(rawValue: "preparing")
    /// It can be downloaded.
    public static let ready = ArchiveState(rawValue: "ready")
    /// The server could not make it. It may be asked for again.
    public static let failed = ArchiveState(rawValue: "failed")
}

/// An archive as an API describes it, for what every SDK does with one.
public protocol ArchiveDescription: Sendable {
    /// Whether it is being made, can be downloaded, or could not be made.
    var state: ArchiveState { get }
    /// The URL of a ready archive.
    var url: String? { get }
}
