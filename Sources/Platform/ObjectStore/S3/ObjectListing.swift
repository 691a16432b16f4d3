import Foundation
import NIOCore

/// An answer to ListObjectsV2, which was requested with `encoding-type=url`.
struct ObjectListing {
    struct Entry: Equatable {
        /// The whole name on S3.
        var name: String
        /// The time at which it was written, in Unix seconds.
        var modified: Int64
    }

    let entries: [Entry]
    /// The token that continues the listing; nil at its end.
    let next: String?

    /// Parses an answer; nil when there is any doubt, because objects in a wrong listing may be deleted.
    init?(_ body: ByteBuffer) {
        guard let elements = XMLElements(body) else { return nil }
        let names = elements.all("ListBucketResult/Contents/Key")
        let times = elements.all("ListBucketResult/Contents/LastModified").compactMap(Self.seconds)
        guard names.count == times.count else { return nil }
        // Servers that do not know this encoding do not name it, and a "%" is then part of a name.
        let isEncoded = elements.first("ListBucketResult/EncodingType") == "url"
        entries = zip(names, times).compactMap { name, modified in
            (isEncoded ? name.removingPercentEncoding : name).map { Entry(name: $0, modified: modified) }
        }
        switch elements.first("ListBucketResult/IsTruncated") {
        case "false": next = nil
        case "true":
            next = elements.first("ListBucketResult/NextContinuationToken")
            if next == nil { return nil }
        default: return nil
        }
    }

    /// Parses a time such as `2009-10-12T17:50:30.000Z`; some servers omit the fraction.
    private static func seconds(_ text: String) -> Int64? {
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? fractional.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text)) else {
            return nil
        }
        return Int64(date.timeIntervalSince1970.rounded(.down))
    }
}
