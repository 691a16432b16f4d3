import NIOConcurrencyHelpers

/// A clock that stands still until it is set.
final class Clock: Sendable {
    private let seconds: NIOLockedValueBox<Int64>

    init(_ seconds: Int64) {
        self.seconds = NIOLockedValueBox(seconds)
    }

    var now: @Sendable () -> Int64 {
        { [self] in seconds.withLockedValue { $0 } }
    }

    func set(_ value: Int64) {
        seconds.withLockedValue { $0 = value }
    }
}
