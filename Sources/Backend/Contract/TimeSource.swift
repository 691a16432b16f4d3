import Contract
import Foundation

/// A clock: the system's clock, or a test's.
public struct TimeSource: Sendable {
    /// Returns the milliseconds since 1970.
    public let milliseconds: @Sendable () -> Int64

    public init(_ milliseconds: @escaping @Sendable () -> Int64) { self.milliseconds = milliseconds }

    public static let system = TimeSource {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    public var seconds: Int64 { milliseconds() / 1000 }

    /// Returns the current time as a timestamp of the contract.
    public func now<Precision>(_: Timestamp<Precision>.Type = Timestamp<Precision>.self) -> Timestamp<Precision> {
        Timestamp(milliseconds: milliseconds())
    }
}
