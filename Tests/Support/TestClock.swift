import Backend
import Foundation
import NIOConcurrencyHelpers

/// A clock that stands still until a test moves it.
public final class TestClock: Sendable {
    private let milliseconds: NIOLockedValueBox<Int64>
    private let step: Int64

    /// - Parameters:
    ///   - start: The time since 1970; by default 2026-02-23T10:00:00Z.
    ///   - step: How far the clock moves by itself each time it is read, for tests in which one event happens after
    ///     another.
    public init(milliseconds start: Int64 = 1_771_840_800_000, step: Int64 = 0) {
        milliseconds = NIOLockedValueBox(start)
        self.step = step
    }

    public var source: TimeSource {
        TimeSource {
            self.milliseconds.withLockedValue { now in
                now += self.step
                return now
            }
        }
    }
    public var date: Date { Date(timeIntervalSince1970: Double(source.milliseconds()) / 1000) }

    public func advance(by duration: Duration) {
        milliseconds.withLockedValue { $0 += Int64(duration / .milliseconds(1)) }
    }
}
