import Foundation

/// A URL of libpq (PostgreSQL's manual, "Connection URIs"), which may name several hosts, without its password.
package struct PostgreSQLURL: Equatable {
    /// Returns a URL of PostgreSQL with a word instead of its password, for people; nil for any other text.
    package static func masked(_ text: String) -> String? {
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else { return nil }
        let url = PostgreSQLURL(text)
        guard url.password != nil else { return url.text }
        guard let at = url.text.range(of: "@") else {
            return url.text + (url.text.contains("?") ? "&" : "?") + "password=hidden"
        }
        return url.text[..<at.lowerBound] + ":hidden" + url.text[at.lowerBound...]
    }

    /// The URL as it was given, without the password.
    let text: String
    let password: String?

    /// Takes the password out of the user's part or the parameter `password`. The parameter wins, as in libpq.
    init(_ url: String) {
        guard let scheme = url.range(of: "://") else {
            (text, password) = (url, nil)
            return
        }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var (authority, tail) = (String(rest[..<end]), String(rest[end...]))
        var found: String?
        if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
            found = String(authority[authority.index(after: colon)..<at])
            authority.removeSubrange(colon..<at)
        }
        if let mark = tail.firstIndex(of: "?") {
            let (name, items) = ("password=", tail[tail.index(after: mark)...].split(separator: "&"))
            if let item = items.last(where: { $0.hasPrefix(name) }) { found = String(item.dropFirst(name.count)) }
            let kept = items.filter { !$0.hasPrefix(name) }
            tail = tail[..<mark] + (kept.isEmpty ? "" : "?") + kept.joined(separator: "&")
        }
        text = url[..<scheme.upperBound] + authority + tail
        password = found.map { $0.removingPercentEncoding ?? $0 }
    }

    /// Returns the URL, without the password, of a connection that has these settings, and whose writes are on the disk when
    /// they are acknowledged. Of a parameter that occurs twice, libpq takes the last.
    func text(with settings: PostgreSQLSettings) -> String {
        guard text.contains("://") else { return text }
        let options = settings.options + " -c synchronous_commit=on"
        let encoded = options.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return text + (text.contains("?") ? "&" : "?") + "client_encoding=UTF8&options=\(encoded)"
    }
}
