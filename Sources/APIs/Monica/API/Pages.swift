import Contract

/// What every operation answers: a resource, or a page of a list.
public struct APIResponse<Value: Codable & Sendable>: Sendable {
    public var data: Value
    /// Of a list; nil for a single resource, and from servers that leave it out.
    public var meta: PaginationMeta?
    public var links: PaginationLinks?
    /// Whether this is what the SDK had kept, since the network is away. Not on the wire.
    public var isCached = false

    public init(data: Value, meta: PaginationMeta? = nil, links: PaginationLinks? = nil) {
        self.data = data
        self.meta = meta
        self.links = links
    }
}

extension APIResponse: Equatable where Value: Equatable {}
extension APIResponse: Hashable where Value: Hashable {}

extension APIResponse: Codable {
    private enum CodingKeys: String, CodingKey { case data, meta, links }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        data = try container.decode(Value.self, forKey: .data)
        meta = try container.value(.meta)
        links = try container.value(.links)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(data, forKey: .data)
        try container.encodeIfPresent(meta, forKey: .meta)
        try container.encodeIfPresent(links, forKey: .links)
    }
}

/// Where a page is in its list. The names are the wire's, as the contract writes them in Swift.
public struct PaginationMeta: Codable, Hashable, Sendable {
    public var total: Int
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public var current_page: Int
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public var per_page: Int
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// 1 or more. Nil from servers that leave it out.
    public var last_page: Int?
    /// The number of the first row of the page, counted from 1; nil when it is empty.
    public var from: Int?
    public var to: Int?
    /// What was searched for.
    public var query: String?

    // swift-format-ignore: AlwaysUseLowerCamelCase
    public init(
        total: Int, current_page: Int, per_page: Int, last_page: Int? = nil, from: Int? = nil, to: Int? = nil,
        query: String? = nil
    ) {
        self.total = total
        self.current_page = current_page
        self.per_page = per_page
        self.last_page = last_page
        self.from = from
        self.to = to
        self.query = query
    }

    /// Of a page with so many rows.
    package init(total: Int, page: Int, limit: Int, rows: Int, query: String? = nil) {
        let first = rows == 0 ? nil : (page - 1) * limit + 1
        self.init(
            total: total, current_page: page, per_page: limit, last_page: Self.lastPage(of: total, limit: limit),
            from: first, to: first.map { $0 + rows - 1 }, query: query)
    }

    /// Whatever a server or an app says: nothing overflows.
    package static func lastPage(of total: Int, limit: Int) -> Int {
        let limit = max(1, limit)
        return max(1, total / limit + (total % limit > 0 ? 1 : 0))
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private enum CodingKeys: String, CodingKey { case total, current_page, per_page, last_page, from, to, query }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        total = try container.integer(.total) ?? 0
        current_page = try container.integer(.current_page) ?? 1
        per_page = try container.integer(.per_page) ?? 0
        last_page = try container.integer(.last_page)
        from = try container.integer(.from)
        to = try container.integer(.to)
        query = try container.text(.query)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(total, forKey: .total)
        try container.encode(current_page, forKey: .current_page)
        try container.encode(per_page, forKey: .per_page)
        try container.encodeIfPresent(last_page, forKey: .last_page)
        try container.encode(from, forKey: .from)
        try container.encode(to, forKey: .to)
        try container.encodeIfPresent(query, forKey: .query)
    }
}

/// The pages around one, below the base URL; other servers write absolute ones. The SDK asks by number.
public struct PaginationLinks: Codable, Hashable, Sendable {
    @OrNull public var first: String?
    @OrNull public var last: String?
    @OrNull public var prev: String?
    @OrNull public var next: String?

    public init(first: String?, last: String?, prev: String?, next: String?) {
        self.first = first
        self.last = last
        self.prev = prev
        self.next = next
    }

    /// - Parameters:
    ///   - path: `/contacts`, or a nested list's own.
    ///   - filters: What stands before page and limit, in order.
    package init(path: String, filters: [(name: String, value: String)], page: Int, limit: Int, last lastPage: Int) {
        func link(_ page: Int) -> String {
            let items = filters + [("page", String(page)), ("limit", String(limit))]
            let query = items.map { $0.name + "=" + RequestCoding.percentEncoded($0.value) }
            return path + "?" + query.joined(separator: "&")
        }
        self.init(
            first: link(1), last: link(lastPage), prev: page > 1 ? link(min(page - 1, lastPage)) : nil,
            next: page < lastPage ? link(page + 1) : nil)
    }
}

extension Monica {
    /// What a list is ordered by.
    public protocol Order: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == String {}

    /// An order and its direction: `created_at`, `-happened_at`.
    public struct Sort<By: Order>: Hashable, Sendable {
        /// As it goes on the wire. A server refuses what it does not know.
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public static func ascending(_ order: By) -> Self { Self(rawValue: order.rawValue) }
        public static func descending(_ order: By) -> Self { Self(rawValue: "-" + order.rawValue) }

        package var isDescending: Bool { rawValue.hasPrefix("-") }
        /// Nil for one that the list does not have.
        package var order: By? { By(rawValue: isDescending ? String(rawValue.dropFirst()) : rawValue) }
    }

    /// Which part of a list is asked for, in which order.
    public struct Part<By: Order>: Hashable, Sendable {
        /// From 1.
        public var page: Int?
        public var limit: Int?
        public var sort: Sort<By>?

        public init(page: Int? = nil, limit: Int? = nil, sort: Sort<By>? = nil) {
            self.page = page
            self.limit = limit
            self.sort = sort
        }

        init(from decoder: any Decoder) throws {
            let query = try decoder.container(keyedBy: QueryKey.self)
            page = try query.parameter(.page)
            limit = try query.parameter(.limit)
            sort = try query.words(.sort).map(Sort.init(rawValue:))
        }

        func encode(to encoder: any Encoder) throws {
            var query = encoder.container(keyedBy: QueryKey.self)
            try query.encodeIfPresent(page, forKey: .page)
            try query.encodeIfPresent(limit, forKey: .limit)
            try query.encodeIfPresent(sort?.rawValue, forKey: .sort)
        }

        /// The decisions' order: sort, limit, page.
        func validate(maximum: Int) throws(Problem) {
            if let sort, sort.order == nil { throw Refusal.sort }
            if let limit {
                guard limit > 0 else { throw Refusal.limit }
                guard limit <= maximum else { throw Refusal.limitTooBig }
            }
            if let page, page < 1 { throw Refusal.page }
        }
    }
}

/// The names of what a query may say.
enum QueryKey: String, CodingKey {
    case page, limit, sort, query, with
    case contact = "contact_id"
}

extension KeyedDecodingContainer<QueryKey> {
    /// What is empty counts as absent.
    func words(_ key: QueryKey) throws -> String? {
        try decodeIfPresent(String.self, forKey: key).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Nil when absent; what is no number is one that no rule admits.
    func parameter(_ key: QueryKey) throws -> Int? {
        guard let text = try words(key) else { return nil }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return .min }
        return Int(text) ?? .max
    }
}
