/// Statuses and sizes in words.
enum Phrase {
    /// Returns a number of bytes in words: `50 MiB`.
    static func size(_ bytes: Int64) -> String {
        for (unit, name) in [(Int64(1) << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] where bytes % unit == 0 {
            return "\(bytes / unit) \(name)"
        }
        return "\(bytes) bytes"
    }

    /// Returns the reason phrase of a status (RFC 9110 §15).
    static func of(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 302: "Found"
        case 303: "See Other"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 409: "Conflict"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 507: "Insufficient Storage"
        default: "Status \(status)"
        }
    }
}
