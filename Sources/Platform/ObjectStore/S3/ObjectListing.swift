import Foundation
import NIOCore

/// The answer to ListObjectsV2, which was asked with `encoding-type=url`.
struct ObjectListing {
    struct Entry: Equatable {
        /// The whole name on S3.
        var name: String
        /// When it was written, in Unix seconds.
        var modified: Int64
    }

    let entries: [Entry]
    /// What continues the listing; nil at its end.
    let next: String?

    /// Nil when it is something else, or in doubt: what is read wrongly here may be deleted.
    init?(_ body: ByteBuffer) {
        guard let elements = XMLElements(body) else { return nil }
        let names = elements.all("ListBucketResult/Contents/Key")
        let times = elements.all("ListBucketResult/Contents/LastModified").compactMap(Self.seconds)
        guard names.count == times.count else { return nil }
        // Servers that do not know this encoding do not claim it, and a "%" is then part of a name.
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

    /// `2009-10-12T17:50:30.000Z`; not all servers write the fraction.
    private static func seconds(_ text: String) -> Int64? {
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? fractional.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text)) else {
            return nil
        }
        return Int64(date.timeIntervalSince1970.rounded(.down))
    }
}
