import Foundation

/// Times of HTTP, in whole seconds (RFC 9110 §5.6.7).
public enum HTTPDate {
    /// Returns `Sun, 06 Nov 1994 08:49:37 GMT` for a time in Unix seconds.
    public static func text(_ seconds: Int64) -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(Int(parts.tm_year) + 1900)"
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(days[Int(parts.tm_wday)]), \(date) \(clock) GMT"
    }

    /// Returns the Unix seconds of a date in the form above, or nil for another. Obsolete forms are not read, because
    /// clients only send back what this server sent.
    public static func seconds(_ text: String) -> Int64? {
        let form = #/[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT/#
        guard let match = text.wholeMatch(of: form), let month = months.firstIndex(of: String(match.2)) else {
            return nil
        }
        var parts = tm()
        parts.tm_mday = Int32(match.1) ?? 0
        parts.tm_mon = Int32(month)
        parts.tm_year = (Int32(match.3) ?? 0) - 1900
        parts.tm_hour = Int32(match.4) ?? 0
        parts.tm_min = Int32(match.5) ?? 0
        parts.tm_sec = Int32(match.6) ?? 0
        return Int64(timegm(&parts))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
