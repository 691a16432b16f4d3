import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// The answers of Monica 4, for apps that were written for it. All that differs from the contract's is in this file, and in the
/// table of `docs/commands.md` ("Monica's tokens and contacts").
struct Monica4: Dialect {
    private let account: AccountID
    private let baseURL: String
    private let links: FileLinks
    private let database: Database

    /// The number of elements in a page when a request gives no limit.
    private static let usualLimit = 15
    /// The lists that have no pages in Monica 4, either.
    private static let unpaged: Set = ["/countries", "/reminders/upcoming/{month}"]
    /// The members of a contact that a short contact has, too.
    private static let shortNames: Set = [
        "id", "uuid", "object", "hash_id", "first_name", "last_name", "nickname", "complete_name", "initials",
        "gender_id", "gender", "gender_type", "is_starred", "is_partial", "is_active", "is_dead", "is_me", "url",
        "account",
    ]

    /// - Parameter baseURL: The beginning of absolute URLs, with `/api`.
    init(for account: AccountID, baseURL: String, links: FileLinks, in database: Database) {
        self.account = account
        self.baseURL = baseURL
        self.links = links
        self.database = database
    }

    func query(_ query: Substring?, of route: Route) -> Substring? {
        guard case .query = route.form else { return query }
        let items = FormURLEncoded.items(query ?? "")
        guard !items.contains(where: { $0.name == "limit" && !$0.value.isEmpty }) else { return query }
        return "\(query.map { "\($0)&" } ?? "")limit=\(Self.usualLimit)"
    }

    func answer(_ json: JSONValue, to request: DialectRequest) async throws -> JSONValue {
        guard case .object(var answer) = json, let data = answer["data"] else { return json }
        answer["data"] = shaped(data)
        guard case .list(let items)? = answer["data"], !Self.unpaged.contains(request.route.path) else {
            return .object(answer)
        }
        var meta = answer["meta"]?.members ?? ["total": .integer(Int64(items.count))]
        var first = answer["links"]?["first"]?.string ?? request.path
        if !first.contains("?") {
            // The list is whole.
            let part = try part(request)
            let (page, limit) = (part.page ?? 1, part.limit ?? Self.usualLimit)
            let last = PaginationMeta.lastPage(of: items.count, limit: limit)
            let rows = page > last ? [] : items.dropFirst((page - 1) * limit).prefix(limit)
            answer["data"] = .list(Array(rows))
            first += "?page=1&limit=\(limit)"
            meta["current_page"] = .integer(Int64(page))
            meta["per_page"] = .integer(Int64(limit))
            meta["last_page"] = .integer(Int64(last))
            meta["from"] = rows.isEmpty ? .null : .integer(Int64((page - 1) * limit + 1))
            meta["to"] = rows.isEmpty ? .null : .integer(Int64((page - 1) * limit + rows.count))
        }
        let pages = Pages(
            first: baseURL + first, page: Int(meta["current_page"]?.integer ?? 1),
            last: Int(meta["last_page"]?.integer ?? 1))
        answer["links"] = pages.links
        meta["path"] = .string(String(pages.first.prefix { $0 != "?" }))
        meta["links"] = pages.numbered
        if request.route.path.hasSuffix("/activities") { meta["statistics"] = try await activitiesByYear() }
        answer["meta"] = .object(meta)
        return .object(answer)
    }

    func refusal(_ json: JSONValue, of problem: Problem) -> JSONValue {
        guard problem.status == .unprocessableContent, case .object(var answer) = json,
            case .object(var error)? = answer["error"]
        else { return json }
        error["message"] = .list((problem.messages ?? [problem.message]).map { .string($0) })
        answer["error"] = .object(error)
        return .object(answer)
    }

    /// Reads the page that a request for a whole list asks for, by the rules of other lists.
    private func part(_ request: DialectRequest) throws -> Monica.Part<Monica.NoteOrder> {
        let items = request.query.filter { ["page", "limit"].contains($0.name) }
        return try RequestCoding.decode(Monica.List<Monica.Note>.self, from: .init(items: items)).part
    }

    /// Changes the resources in a value.
    private func shaped(_ value: JSONValue) -> JSONValue {
        switch value {
        case .list(let elements): return .list(elements.map(shaped))
        case .object(let members):
            var members = members.mapValues(shaped)
            switch members["object"] {
            case "address": complete(address: &members)
            case "contact": complete(contact: &members)
            case "gift": members["value"] = members["amount"]?.string.map { .string($0) } ?? ""
            // Apps show what it names; a picture inside of each answer would make lists of a hundred megabytes.
            case "photo": members["dataUrl"] = members["link"]
            case "relationship":
                if let id = members["id"]?.integer { members["url"] = .string("\(baseURL)/relationships/\(id)") }
            default: break
            }
            return .object(members)
        default: return value
        }
    }

    private func complete(address: inout [String: JSONValue]) {
        address["latitude"] = .null
        address["longitude"] = .null
        if let id = address["id"]?.integer { address["url"] = .string("\(baseURL)/addresses/\(id)") }
        guard let name = address["country"]?.string ?? address["country"]?["name"]?.string else { return }
        // Apps take it for granted that a country has a code.
        let code = JSONValue.string(Countries.find(name)?.id ?? "")
        address["country"] = ["id": code, "object": "country", "name": .string(name), "iso": code]
    }

    private func complete(contact: inout [String: JSONValue]) {
        draw(&contact)
        guard case .list(let addresses)? = contact["addresses"], !addresses.isEmpty else { return }
        var short = contact.filter { Self.shortNames.contains($0.key) }
        let information = contact["information"]
        short["information"] = [
            "birthdate": information?["dates"]?["birthdate"] ?? .null,
            "deceased_date": information?["dates"]?["deceased_date"] ?? .null,
            "avatar": information?["avatar"] ?? .null,
        ]
        contact["addresses"] = .list(
            addresses.map { .object($0.members.merging(["contact": .object(short)]) { _, new in new }) })
    }

    /// Gives a contact without a picture that of its initials.
    private func draw(_ contact: inout [String: JSONValue]) {
        guard case .object(var information)? = contact["information"],
            case .object(var avatar)? = information["avatar"], avatar["url"] == .null,
            let initials = contact["initials"]?.string, let colour = avatar["default_avatar_color"]?.string
        else { return }
        avatar["url"] = .string(links.picture(Initials(initials, on: colour, for: account).key))
        information["avatar"] = .object(avatar)
        contact["information"] = .object(information)
    }

    /// Returns the number of the account's activities in each year that has some.
    private func activitiesByYear() async throws -> JSONValue {
        let days = try await database.read(from: .replica) { [account] db in
            try db.all(
                "SELECT happened_at, COUNT(*) FROM activities WHERE account_id = \(account) GROUP BY happened_at"
            ) { (try $0.get(0, as: Day.self), try $0.get(1, as: Int64.self)) }
        }
        var years: [String: Int64] = [:]
        for (day, count) in days {
            let year = "\(day)".prefix { $0 != "-" }
            years[String(year), default: 0] += count
        }
        return .object(years.mapValues { .integer($0) })
    }
}

/// The pages of a list as absolute links.
private struct Pages {
    /// The link of the first page, whose query ends with the page and the limit.
    let first: String
    let page: Int
    let last: Int
    /// The pages on each side of the present one that have a numbered link.
    private static let near = 3

    private func link(_ page: Int) -> JSONValue {
        .string(first.replacing("page=1&limit=", with: "page=\(page)&limit="))
    }

    private var previous: JSONValue { page > 1 ? link(min(page - 1, last)) : .null }
    private var next: JSONValue { page < last ? link(page + 1) : .null }

    var links: JSONValue { ["first": link(1), "last": link(last), "prev": previous, "next": next] }

    /// The links with labels: the one before, the first two, those near the present one, the last two, and the one behind.
    var numbered: JSONValue {
        let near = max(1, min(page, last) - Self.near)...min(last, min(page, last) + Self.near)
        let shown = Set([1, 2, last - 1, last].filter { 1...last ~= $0 } + near).sorted()
        var links = [entry(previous, "&laquo; Previous")]
        for (number, before) in zip(shown, [0] + shown) {
            if number > before + 1 { links.append(entry(.null, "...")) }
            links.append(entry(link(number), "\(number)", isActive: number == page))
        }
        return .list(links + [entry(next, "Next &raquo;")])
    }

    private func entry(_ url: JSONValue, _ label: String, isActive: Bool = false) -> JSONValue {
        ["url": url, "label": .string(label), "active": .bool(isActive)]
    }
}
