/// Describes a metric to people who read it. Metrics without a description are exported without a help text.
public struct MetricDescription: Sendable {
    public enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    /// The name, in Prometheus' conventions: `concord_http_request_duration_seconds`.
    public let name: String
    public let kind: Kind
    /// A sentence about what is measured.
    public let help: String
    /// The upper bounds of a histogram's buckets, in ascending order, without infinity.
    public let buckets: [Double]

    /// - Parameter buckets: The upper bounds of a histogram's buckets, in ascending order; by default those for times in
    ///   seconds.
    public init(_ name: String, _ kind: Kind, _ help: String, buckets: [Double] = Self.seconds) {
        self.name = name
        self.kind = kind
        self.help = help
        self.buckets = buckets
    }

    /// The bounds for times, from a millisecond to ten seconds.
    public static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// The bounds for small numbers of things.
    public static let counts: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
}
