// The text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format

extension PrometheusRegistry {
    /// The `Content-Type` of ``text()``.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
}

extension String {
    /// Appends one line: the name, the labels in braces, the value.
    mutating func appendSample(_ name: String, _ labels: String, _ value: String) {
        self += name
        if !labels.isEmpty {
            self += "{"
            self += labels
            self += "}"
        }
        self += " "
        self += value
        self += "\n"
    }

    /// The text with the characters escaped that end a line, or a label's value.
    func escaped(isQuoted: Bool) -> String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where isQuoted: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text as the name of a metric or of a label: other characters than letters, digits and underscores become
    /// underscores, for libraries name their metrics in other ways.
    var asMetricName: String {
        let isName = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let name = String(decoding: utf8.map { isName($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        return name.first?.isNumber ?? true ? "_" + name : name
    }
}

extension Double {
    /// The number as Go's `ParseFloat` reads it; a whole number has no fraction.
    var sample: String {
        if isNaN { return "NaN" }
        if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: self).map(String.init) ?? description
    }
}
