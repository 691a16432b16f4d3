import Foundation
import NIOConcurrencyHelpers

/// The `Date` of answers (RFC 9110 §6.6.1), which is formatted once a second.
enum DateField {
    private static let last = NIOLockedValueBox((second: time_t.min, text: ""))

    static var now: String {
        var second = time_t()
        time(&second)
        return last.withLockedValue { last in
            if last.second != second { last = (second, text(second)) }
            return last.text
        }
    }

    /// Returns a time in the form `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(_ second: time_t) -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var (second, parts) = (second, tm())
        gmtime_r(&second, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(Int(parts.tm_year) + 1900)"
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(days[Int(parts.tm_wday)]), \(date) \(clock) GMT"
    }
}
