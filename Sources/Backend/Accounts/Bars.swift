import Contract
import ContractServer
import Database

/// The e-mail addresses, domains and networks that an operator keeps away from an API.
public enum Bars {
    /// The kind of a value that is barred.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// The domain of e-mail addresses, with all domains below it.
        case domain
        /// An e-mail address.
        case address
        /// The network of a client.
        case network
    }

    /// The refusals.
    public static let barredEmail = Problem(.forbidden, "Email address is not allowed here")
    public static let barredNetwork = Problem(.forbidden, "Access from this network is not allowed")

    /// The most bars of one API.
    static let most = 10_000

    static let tables = [
        """
        CREATE TABLE bars (
            value {KEY} PRIMARY KEY, kind TEXT NOT NULL, reason TEXT NOT NULL, created_at BIGINT NOT NULL)
        """
    ]

    /// A bar as an operator sees it.
    struct Entry: Sendable {
        let value: String
        let kind: String
        let reason: String
        let createdAt: Int64
    }

    /// Returns what is barred in the form in which it is stored and compared. An address has an `@`, a network a slash, and
    /// a domain neither: no two kinds have the same value.
    ///
    /// - Throws: ``OperatorError``.
    static func value(_ kind: Kind, of text: String) throws -> String {
        switch kind {
        case .network:
            let range: AddressRange
            do { range = try AddressRange(text) } catch { throw OperatorError("\(error)") }
            guard !range.isEverything else {
                throw OperatorError("\(text) is every address: close the registration, or stop the server")
            }
            return "\(range)"
        case .address:
            guard EmailAddress.isValid(text.trimmed) else { throw OperatorError("'\(text)' is not an e-mail address") }
            return form(of: text)
        case .domain:
            let domain = form(of: text)
            guard EmailAddress.isValid("a@\(domain)"), !domain.contains("/"), !domain.contains("@") else {
                throw OperatorError("'\(text)' is not a domain such as example.com")
            }
            return domain
        }
    }

    /// Returns an address or a domain in the form in which they are compared: case, width and a dot at the end do not count.
    private static func form(of text: String) -> String {
        var form = Substring(text.trimmed.foldedForComparison)
        while form.last == "." { form.removeLast() }
        return String(form)
    }

    /// Returns every value whose bar keeps an address away: the address, its domain, and the domains above that.
    private static func values(of email: String) -> [String] {
        let address = form(of: email)
        guard let at = address.lastIndex(of: "@") else { return [] }
        let labels = address[address.index(after: at)...].split(separator: ".", omittingEmptySubsequences: false)
        return [address] + labels.indices.map { labels[$0...].joined(separator: ".") }
    }

    private static func holds(_ values: [String], in db: Session) throws -> Bool {
        guard !values.isEmpty else { return false }
        return try db.exists("SELECT 1 FROM bars WHERE value IN (\(list: values))")
    }

    /// Returns whether an e-mail address is barred.
    static func holds(against email: String, in db: Session) throws -> Bool { try holds(values(of: email), in: db) }

    /// - Throws: A `Problem` with 403 for a barred network.
    static func requireNone(from address: ClientAddress, in db: Session) throws {
        guard let ranges = IPAddress(address.description)?.ranges else { return }
        if try holds(ranges.map(\.description), in: db) { throw barredNetwork }
    }

    /// - Throws: A `Problem` with 403 for a barred network or e-mail address.
    static func requireNone(against email: String?, from address: ClientAddress, in db: Session) throws {
        try requireNone(from: address, in: db)
        if let email, try holds(against: email, in: db) { throw barredEmail }
    }

    /// - Returns: Whether it was not barred before.
    static func add(
        _ value: String, _ kind: Kind, because reason: String, at now: Int64, in db: Session
    ) throws -> Bool {
        try db.run(
            """
            INSERT INTO bars (value, kind, reason, created_at) VALUES (\(value), \(kind.rawValue), \(reason), \(now))
            ON CONFLICT (value) DO NOTHING
            """) > 0
    }

    /// - Returns: Whether it was barred.
    static func remove(_ value: String, in db: Session) throws -> Bool {
        try db.run("DELETE FROM bars WHERE value = \(value)") > 0
    }

    static func count(in db: Session) throws -> Int { try db.value("SELECT COUNT(*) FROM bars") ?? 0 }

    static func all(in db: Session) throws -> [Entry] {
        try db.all("SELECT value, kind, reason, created_at FROM bars ORDER BY kind, value LIMIT \(most)") {
            Entry(value: try $0.get(0), kind: try $0.get(1), reason: try $0.get(2), createdAt: try $0.get(3))
        }
    }
}
