import Contract
import ContractClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The waits before repeats: 1, 2, 4 … seconds plus a jitter, or what the server says.
public struct Backoff: Sendable {
    /// The wait before the first repeat, in seconds; doubled for each further one.
    public var base: Double
    /// Returns the seconds that are added to each wait, so that many clients do not come back at once.
    public var jitter: @Sendable () -> Double
    /// The longest wait in seconds. A longer `Retry-After` is left to the app.
    public var longest: Double
    /// Waits for a duration. A test replaces it.
    public var sleep: @Sendable (Duration) async throws -> Void

    public init(
        base: Double = 1, jitter: @escaping @Sendable () -> Double = { .random(in: 0.1...0.3) }, longest: Double = 60,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.base = base
        self.jitter = jitter
        self.longest = longest
        self.sleep = sleep
    }

    /// Returns the wait in seconds before a repeat, counted from 0; nil when it is too long.
    func delay(_ attempt: Int, after response: TransportResponse? = nil) -> Double? {
        let asked = response?.headers[.retryAfter].flatMap(Double.init)
        if let asked { return asked <= longest ? max(0, asked) + jitter() : nil }
        return base * Double(1 << min(attempt, 16)) + jitter()
    }

    /// Returns whether a server that answers this status may answer differently the next time.
    static func isTransient(_ status: HTTPResponse.Status) -> Bool { [429, 500, 502, 503, 504].contains(status.code) }

    static func isTransient(_ error: any Error) -> Bool {
        !(error is CancellationError) && (error as? URLError)?.code != .cancelled
    }
}
