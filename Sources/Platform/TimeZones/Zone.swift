import Foundation

/// A time zone.
public struct Zone: Sendable {
    private enum Source {
        case file(ZoneFile)
        case foundation(TimeZone)
        case machine
    }

    private let source: Source

    /// Reads a zone file (TZif, RFC 9636).
    public init(file bytes: [UInt8]) throws(ZoneFileError) { source = .file(try ZoneFile(bytes)) }

    /// Makes a zone whose data are those of Foundation, which came with the program.
    init(_ zone: TimeZone) { source = .foundation(zone) }

    private init(_ source: Source) { self.source = source }

    public static let utc = Zone(.gmt)

    /// The zone that the operator has set for this machine: `TZ` or `/etc/localtime`, as the C library reads it.
    public static let machine = Zone(.machine)

    /// Returns the offset from UTC in seconds, which is positive in the east.
    ///
    /// - Parameter time: The seconds since 1970.
    public func offset(at time: Int64) -> Int {
        switch source {
        case .file(let file): file.offset(at: time)
        case .foundation(let zone): zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(time)))
        case .machine: machineOffset(at: time)
        }
    }

    /// Returns the first moment at which the local clock shows a time: where the clock skips it, the moment at which it does.
    ///
    /// - Parameter local: The seconds since 1970 of the local clock.
    public func moment(local: Int64) -> Int64 {
        // No zone changes twice within the two days around a time.
        let candidates = [offset(at: local - 86_400), offset(at: local + 86_400)].map { local - Int64($0) }.sorted()
        if let shown = candidates.first(where: { $0 + Int64(offset(at: $0)) == local }) { return shown }
        var (before, after) = (candidates[0], candidates[1])
        while before < after {
            let middle = before + (after - before) / 2
            if middle + Int64(offset(at: middle)) >= local { after = middle } else { before = middle + 1 }
        }
        return after
    }
}

private func machineOffset(at time: Int64) -> Int {
    var (seconds, parts) = (time_t(time), tm())
    return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff
}
