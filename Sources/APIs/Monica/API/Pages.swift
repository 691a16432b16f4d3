import Contract

/// The envelope of every answer: a resource, or a page of a list.
public struct APIResponse<Value: Codable & Sendable>: Sendable {
    /// The resource, or the resources of the page.
    public var data: Value
    /// The position of the page in its list; nil for a single resource, and from servers that leave it out.
    public var meta: PaginationMeta?
    /// The links to neighbouring pages, of a list; nil for a single resource.
    public var links: PaginationLinks?
    /// Whether this is an earlier answer that the SDK had stored, because there is no network. It is not on the wire.
    public var isCached = false

    public init(data: Value, meta: PaginationMeta? = nil, links: PaginationLinks? = nil) {
        self.data = data
        self.meta = meta
        self.links = links
    }
}

extension APIResponse {
    /// Creates the answer of a list that is on one page, however long it is.
    package init<Item>(whole items: [Item], path: String) where Value == [Item] {
        self.init(
            data: items,
            meta: PaginationMeta(total: items.count, page: 1, limit: max(1, items.count), rows: items.count),
            links: PaginationLinks(first: path, last: path, prev: nil, next: nil))
    }
}

extension Monica {
    /// The envelope of every answer, by a name that no other SDK has: for files that import several of them.
    public typealias Response<Value: Codable & Sendable> = APIResponse<Value>
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
        var object = try ObjectWriter(encoder)
        try object.write("data", encoding: data)
        if let meta { try object.write("meta", encoding: meta) }
        if let links { try object.write("links", encoding: links) }
        object.finish()
    }
}

/// The position of a page in its list. The names are those of the wire, as the contract writes them in Swift.
public struct PaginationMeta: Codable, Hashable, Sendable {
    /// The number of elements in the whole list.
    public var total: Int
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The number of the page, from 1.
    public var current_page: Int
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The maximum number of elements in a page.
    public var per_page: Int
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The number of the last page, 1 or more. Nil from servers that leave it out.
    public var last_page: Int?
    /// The number of the first row of the page, from 1; nil when it is empty.
    public var from: Int?
    /// The number of the last row of the page, from 1; nil when it is empty.
    public var to: Int?
    /// The search; nil when there was none.
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

    /// Creates the position of a page with the given number of rows.
    package init(total: Int, page: Int, limit: Int, rows: Int, query: String? = nil) {
        let first = rows == 0 ? nil : (page - 1) * limit + 1
        self.init(
            total: total, current_page: page, per_page: limit, last_page: Self.lastPage(of: total, limit: limit),
            from: first, to: first.map { $0 + rows - 1 }, query: query)
    }

    /// Returns the number of the last page, without an overflow for any values that a server or an app may send.
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

/// The neighbouring pages, relative to the base URL; other servers send absolute URLs. The SDK asks for pages by
/// number.
public struct PaginationLinks: Codable, Hashable, Sendable {
    /// The first page.
    @OrNull public var first: String?
    /// The last page.
    @OrNull public var last: String?
    /// The page before; nil for the first.
    @OrNull public var prev: String?
    /// The page after; nil for the last.
    @OrNull public var next: String?
    private init(derived: Never) { switch derived {} }

    /// Creates the links.
    ///
    /// - Parameters:
    ///   - path: The list's path, such as `/contacts`.
    ///   - filters: The query's items before page and limit, in order.
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
    /// The orders of a list.
    public protocol Order: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == String {}

    /// An order with its direction, such as `created_at` or `-happened_at`.
    public struct Sort<By: Order>: Hashable, Sendable {
        /// The value on the wire. A server refuses an unknown one.
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        /// Orders a list ascending.
        public static func ascending(_ order: By) -> Self { Self(rawValue: order.rawValue) }
        /// Orders a list descending.
        public static func descending(_ order: By) -> Self { Self(rawValue: "-" + order.rawValue) }

        package var isDescending: Bool { rawValue.hasPrefix("-") }
        /// The order; nil for a value that the list does not have.
        package var order: By? { By(rawValue: isDescending ? String(rawValue.dropFirst()) : rawValue) }
    }

    /// The part of a list that is asked for, and its order.
    public struct Part<By: Order>: Hashable, Sendable {
        /// The number of the page, from 1.
        public var page: Int?
        /// The number of elements to return; nil for the default of the list.
        public var limit: Int?
        /// The order; nil for the default of the list.
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

        /// Validates in the order of the decisions: sort, limit, page.
        func validate(maximum: Int) throws(Problem) {
            if let sort, sort.order == nil { throw Problems.sort }
            if let limit {
                guard limit > 0 else { throw Problems.limit }
                guard limit <= maximum else { throw Problems.limitTooBig }
            }
            if let page, page < 1 { throw Problems.page }
        }
    }
}

/// The names of a query's items.
enum QueryKey: String, CodingKey {
    case page, limit, sort, query, with
    case contact = "contact_id"
}

extension KeyedDecodingContainer<QueryKey> {
    /// Returns a text; nil for an empty or absent one.
    func words(_ key: QueryKey) throws -> String? {
        try decodeIfPresent(String.self, forKey: key).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a number; nil when it is absent. A value that is not a number becomes one that no rule accepts.
    func parameter(_ key: QueryKey) throws -> Int? {
        guard let text = try words(key) else { return nil }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return .min }
        return Int(text) ?? .max
    }
}
