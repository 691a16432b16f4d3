public import HTTPTypes

/// A span's place in a trace, as the header `traceparent` names it (W3C Trace Context,
/// https://www.w3.org/TR/trace-context/#traceparent-header).
public struct TraceParent: Sendable, Hashable {
    /// The trace: 32 hexadecimal digits in lower case.
    public let traceID: String
    /// The span: 16 hexadecimal digits in lower case.
    public let spanID: String
    /// Whether the caller records the trace.
    public let isSampled: Bool

    public init(traceID: String, spanID: String, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Reads the header's value; returns nil for one that is malformed, which is ignored.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let dash = UInt8(ascii: "-")
        guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
        let parts = [bytes[0..<2], bytes[3..<35], bytes[36..<52], bytes[53..<55]]
        guard parts.allSatisfy({ $0.allSatisfy(\.isLowerHexadecimal) }) else { return nil }
        let (version, flags) = (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[3], as: UTF8.self))
        // Version ff does not exist. Later versions may have more behind another dash.
        guard version != "ff", bytes.count == 55 || (version != "00" && bytes[55] == dash) else { return nil }
        traceID = String(decoding: parts[1], as: UTF8.self)
        spanID = String(decoding: parts[2], as: UTF8.self)
        guard traceID.utf8.contains(where: { $0 != UInt8(ascii: "0") }),
            spanID.utf8.contains(where: { $0 != UInt8(ascii: "0") })
        else { return nil }
        isSampled = (UInt8(flags, radix: 16) ?? 0) & 1 == 1
    }

    /// Reads the header of a request; returns nil when there is none, more than one, or one that is malformed.
    public init?(_ headers: HTTPFields) {
        guard headers.contains(.traceParent) else { return nil }
        let values = headers[values: .traceParent]
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// The header's value.
    public var text: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

extension HTTPField.Name {
    public static let traceParent = Self("traceparent")!
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
