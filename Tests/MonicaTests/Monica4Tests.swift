import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MonicaAPI
import MonicaCheck
import MonicaClient
import MonicaService
import Testbed
import Testing

/// The holder of a token of Monica 4 gets its form of the answers, and others get the contract's.
@Suite(.timeLimit(.minutes(30))) struct Monica4Tests {
    /// One account, seen by a token of each form.
    private struct Account {
        let contract: RawClient
        let monica4: RawClient
        let client: MonicaAPIClient
        let base: String
    }

    private func withAccount(on stack: Stack, _ body: (Account) async throws -> Void) async throws {
        try await withMonica(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let token = try await host.token(dialect: .monica4)
            let account = Account(
                contract: raw.signed(token: try await host.token()), monica4: raw.signed(token: token),
                client: MonicaAPIClient(
                    configuration: APIConfiguration(baseURL: host.baseURL, token: token, retryCount: 0),
                    transport: host.transport),
                base: host.baseURL.absoluteString)
            try await body(account)
        }
    }

    @Test(arguments: Stack.all)
    func aPageHasAbsoluteLinksAndItsPath(_ stack: Stack) async throws {
        try await withAccount(on: stack) { account in
            for number in 1...33 {
                try await account.client.create(Monica.ContactDraft(firstName: "Person \(number)"))
            }
            let first = try await account.monica4(.get, "/contacts").succeeded(200)
            #expect(first["data"]?.elements.count == 15)
            let url = "\(account.base)/contacts"
            func link(_ page: Int) -> JSONValue { .string("\(url)?page=\(page)&limit=15") }
            func numbered(_ page: Int, isActive: Bool = false) -> JSONValue {
                ["url": link(page), "label": .string("\(page)"), "active": .bool(isActive)]
            }
            #expect(first["links"] == ["first": link(1), "last": link(3), "prev": nil, "next": link(2)])
            #expect(
                first["meta"] == [
                    "total": 33, "current_page": 1, "per_page": 15, "last_page": 3, "from": 1, "to": 15,
                    "path": .string(url),
                    "links": [
                        ["url": nil, "label": "&laquo; Previous", "active": false], numbered(1, isActive: true),
                        numbered(2), numbered(3), ["url": link(2), "label": "Next &raquo;", "active": false],
                    ],
                ])
            let path = "/contacts?query=person&page=9&limit=2"
            let distant = try await account.monica4(.get, path).succeeded(200)["meta"]
            #expect(distant?["path"]?.string == url)
            let labels = distant?["links"]?.elements.map { $0["label"]?.string ?? "" } ?? []
            #expect(
                labels == [
                    "&laquo; Previous", "1", "2", "...", "6", "7", "8", "9", "10", "11", "12", "...", "16", "17",
                    "Next &raquo;",
                ])
            #expect(
                distant?["links"]?.elements.last?["url"]?.string == "\(url)?query=person&page=10&limit=2")
            let past = try await account.monica4(.get, "/contacts?page=7").succeeded(200)
            #expect(past["data"]?.elements.isEmpty == true && past["links"]?["prev"] == link(3))

            // Every link leads to what it says, and other tokens get the contract's answer.
            let target = String(try #require(first["links"]?["next"]?.string).dropFirst(account.base.count))
            let second = try await account.monica4(.get, target).succeeded(200)
            #expect(second["meta"]?["from"] == 16)
            let plain = try await account.contract(.get, "/contacts").succeeded(200)
            #expect(plain["data"]?.elements.count == 33)
            #expect(plain["links"]?["first"] == "/contacts?page=1&limit=50")
            #expect(plain["meta"]?["path"] == nil && plain["meta"]?["links"] == nil)
        }
    }

    @Test(
        arguments: Stack.all,
        [
            "/genders", "/tags", "/activitytypes", "/activitytypecategories", "/contactfieldtypes", "/currencies",
            "/relationshiptypes", "/relationshiptypegroups",
        ])
    func aWholeListIsInPages(_ stack: Stack, _ path: String) async throws {
        try await withAccount(on: stack) { account in
            let contact = try await account.client.create(Monica.ContactDraft(firstName: "John"))
            try await account.client.send(Monica.SetTags(id: contact.id, names: ["a", "b", "c"]))
            let all = try await account.contract(.get, path).succeeded(200)["data"]?.elements ?? []
            #expect(all.count >= 3)
            var found: [JSONValue] = []
            for page in 1...(all.count + 1) / 2 {
                let answer = try await account.monica4(.get, "\(path)?page=\(page)&limit=2").succeeded(200)
                found += answer["data"]?.elements ?? []
                #expect(answer["meta"]?["total"] == .integer(Int64(all.count)) && answer["meta"]?["per_page"] == 2)
                #expect(answer["meta"]?["from"] == .integer(Int64(2 * page - 1)))
                #expect(answer["meta"]?["to"] == .integer(Int64(min(2 * page, all.count))))
            }
            #expect(found == all)
            let usual = try await account.monica4(.get, path).succeeded(200)
            #expect(usual["data"]?.elements == Array(all.prefix(15)) && usual["meta"]?["per_page"] == 15)
            let past = try await account.monica4(.get, "\(path)?page=\(Int.max)").succeeded(200)
            #expect(past["data"] == [] && past["meta"]?["from"] == .null && past["links"]?["next"] == .null)

            for (query, code, words) in [
                ("limit=101", 30, "The limit parameter is too big"),
                ("limit=0", 30, "The limit parameter must be a positive integer"),
                ("limit=x&page=0", 30, "The limit parameter must be a positive integer"),
                ("page=0", 41, "The page parameter must be a positive integer"),
            ] {
                let refused = try await account.monica4(.get, "\(path)?\(query)")
                #expect(refused.status == 400, "\(query)")
                #expect(
                    try refused.json()["error"]
                        == ["message": .string(words), "code": 400, "error_code": .integer(Int64(code))])
            }
        }
    }

    @Test(arguments: Stack.all)
    func anAddressHasACountryAndItsContact(_ stack: Stack) async throws {
        try await withAccount(on: stack) { account in
            let contact = try await account.client.create(Monica.ContactDraft(firstName: "John", lastName: "Doe"))
            for country in ["FR", "Narnia", nil] {
                try await account.client.send(
                    Monica.Create<Monica.Address>(
                        Monica.AddressDraft(contactID: contact.id, city: "Paris", country: country)))
            }
            let plain = try await account.contract(.get, "/contacts/\(contact.id)").succeeded(200)["data"]
            #expect(plain?["addresses"]?.elements.map { $0["country"] } == ["France", "Narnia", .null])
            let shown = try await account.monica4(.get, "/contacts/\(contact.id)").succeeded(200)["data"]
            let addresses = shown?["addresses"]?.elements ?? []
            #expect(
                addresses.map { $0["country"] } == [
                    ["id": "FR", "object": "country", "name": "France", "iso": "FR"],
                    ["id": "", "object": "country", "name": "Narnia", "iso": ""], .null,
                ])
            for address in addresses {
                let id = try #require(address["id"]?.integer)
                #expect(address["latitude"] == .null && address["longitude"] == .null)
                #expect(address["url"]?.string == "\(account.base)/addresses/\(id)")
                // It is the one that the address's own answer has.
                let own = try await account.monica4(.get, "/addresses/\(id)").succeeded(200)["data"]
                #expect(address["contact"] == own?["contact"])
                #expect(own?["country"] == address["country"] && own?["url"] == address["url"])
            }
            let list = try await account.monica4(.get, "/contacts/\(contact.id)/addresses").succeeded(200)
            #expect(list["data"]?.elements.map { $0["country"]?["iso"] } == ["FR", "", nil])
            #expect(list["meta"]?["path"]?.string == "\(account.base)/contacts/\(contact.id)/addresses")
        }
    }

    @Test(arguments: Stack.all)
    func activitiesHaveTheirNumberInEachYear(_ stack: Stack) async throws {
        try await withAccount(on: stack) { account in
            let contact = try await account.client.create(Monica.ContactDraft(firstName: "John"))
            let none = try await account.monica4(.get, "/activities").succeeded(200)
            #expect(none["meta"]?["statistics"] == [:])
            for day in ["2024-01-01", "2024-12-31", "2025-06-01", "1969-12-31"] {
                try await account.client.send(
                    Monica.Create<Monica.Activity>(
                        Monica.ActivityDraft(
                            summary: "x", happenedAt: try #require(Day(day)), contacts: [contact.id])))
            }
            for path in ["/activities?limit=1", "/contacts/\(contact.id)/activities"] {
                let answer = try await account.monica4(.get, path).succeeded(200)
                #expect(answer["meta"]?["statistics"] == ["1969": 1, "2024": 2, "2025": 1])
            }
            let notes = try await account.monica4(.get, "/notes").succeeded(200)
            #expect(notes["meta"]?["statistics"] == nil)
        }
    }

    @Test(arguments: Stack.all)
    func aRefusalListsItsMessages(_ stack: Stack) async throws {
        try await withAccount(on: stack) { account in
            let refused = try await account.monica4(.post, "/contacts", [:])
            #expect(refused.status == 422)
            #expect(
                try refused.json() == [
                    "error": [
                        "message": [
                            "The first name field is required.", "The is birthdate known field is required.",
                            "The is deceased field is required.", "The is deceased date known field is required.",
                        ],
                        "code": 422, "error_code": 32,
                    ]
                ])
            // A single message is a list, too, and other refusals have a text.
            let tag = try await account.monica4(.post, "/tags", ["name": ""])
            #expect(try tag.json()["error"]?["message"] == ["The name field is required."])
            let missing = try await account.monica4(.get, "/contacts/0")
            #expect(try missing.json()["error"]?["message"] == "The requested contact was not found.")
            let plain = try await account.contract(.post, "/contacts", [:])
            #expect(try plain.json()["error"]?["message"]?.string?.contains("required. The is") == true)
            await #expect(throws: MonicaAPIError.self) {
                try await account.client.send(Monica.Create<Monica.Tag>(form: .init([:])))
            }
        }
    }

    /// The answer that is kept for an `Idempotency-Key` is the contract's, so each token gets its own form of it.
    @Test(arguments: Stack.all)
    func aRepeatedRequestIsAnsweredInEachForm(_ stack: Stack) async throws {
        try await withAccount(on: stack) { account in
            let contact = try await account.client.create(Monica.ContactDraft(firstName: "John"))
            let body: JSONValue = ["contact_id": .integer(Int64(contact.id)), "city": "Paris", "country": "FR"]
            let key: HTTPFields = [.idempotencyKey: "one"]
            let first = try await account.monica4(.post, "/addresses", body, headers: key)
            let again = try await account.contract(.post, "/addresses", body, headers: key)
            let third = try await account.monica4(.post, "/addresses", body, headers: key)
            #expect(first.status == 201 && again.status == 201 && third.text == first.text)
            #expect(try first.json()["data"]?["url"] != nil && again.json()["data"]?["url"] == nil)
            #expect(try first.json()["data"]?["id"] == again.json()["data"]?["id"])
            #expect(try await account.contract(.get, "/addresses").succeeded(200)["meta"]?["total"] == 1)
        }
    }

    /// Apps of Monica 4 take it for granted that a contact has a picture.
    @Test(arguments: Stack.all)
    func aContactWithoutAPictureShowsItsInitials(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let (world, raw) = (host.world(), RawClient(baseURL: host.baseURL, transport: host.transport))
            let monica4 = raw.signed(token: try await host.token(dialect: .monica4))
            let contract = raw.signed(token: try await host.token())
            func avatar(_ body: JSONValue) throws -> (url: String, colour: String) {
                let avatar = body["information"]?["avatar"]
                return (
                    try #require(avatar?["url"]?.string), try #require(avatar?["default_avatar_color"]?.string)
                )
            }
            let known: [String: JSONValue] = [
                "is_birthdate_known": false, "is_deceased": false, "is_deceased_date_known": false,
            ]
            for (names, letters): ([String], String) in [
                (["Ann", "Mary", "Smith"], "AM"), (["Zoë"], "Z"), (["李", "小龙"], "李小"), (["-"], ""),
                (["a\u{300}\u{301}b"], "A"), (["\"<&>", "$x"], "X"), (["A1", "9"], "A9"),
            ] {
                let fields = Dictionary(
                    zip(["first_name", "middle_name", "last_name"], names.map(JSONValue.string))
                ) { $1 }
                let body = JSONValue.object(fields.merging(known) { $1 })
                let made = try await monica4(.post, "/contacts", body).succeeded(201)["data"] ?? nil
                let id = try #require(made["id"]?.integer)
                let (url, colour) = try avatar(made)
                #expect(url.hasPrefix("\(host.baseURL.absoluteString.dropLast(4))/initials/"), "\(url)")
                let picture = try await world.fetch(url)
                #expect(picture.status == 200 && picture.headers[.contentType] == "image/jpeg")
                #expect(picture.text == "\(letters) on \(colour.dropFirst())", "\(names)")
                // The same link for a day, also in lists and in what belongs to the contact; none for the contract's tokens.
                let note = try await monica4(.post, "/notes", ["contact_id": .integer(id), "body": "a"]).succeeded(201)
                #expect(try avatar(note["data"]?["contact"] ?? nil).url == url)
                #expect(
                    try await monica4(.get, "/contacts").text.contains(
                        url.split(separator: "?")[0].split(separator: "/").last ?? ""))
                let plain = try await contract(.get, "/contacts/\(id)").succeeded(200)["data"]
                #expect(plain?["information"]?["avatar"]?["url"] == .null)
                // No stranger can ask for others.
                for forged in [
                    url.replacing("/initials/", with: "/initials/1"), String(url.prefix { $0 != "?" }), url + "x",
                ] { #expect(try await world.fetch(forged).status == 403, "\(forged)") }
            }
            host.clock.advance(by: .seconds(3 * 86_400))
            let (url, _) = try avatar(
                try await monica4(.get, "/contacts?limit=1").succeeded(200)["data"]?.elements[0] ?? nil)
            host.clock.advance(by: .seconds(2 * 86_400))
            #expect(try await world.fetch(url).status == 403)
        }
    }

    /// The SDK reads both forms as the same values.
    @Test(arguments: Stack.all)
    func theSDKReadsBothForms(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            func client(_ dialect: Monica.TokenDialect) async throws -> MonicaAPIClient {
                MonicaAPIClient(
                    configuration: APIConfiguration(
                        baseURL: host.baseURL, token: try await host.token(dialect: dialect), retryCount: 0),
                    transport: host.transport)
            }
            let (plain, other) = (try await client(.contract), try await client(.monica4))
            let names = (1...40).map { "Person \($0)" }
            for name in names {
                let made = try await other.create(Monica.ContactDraft(firstName: name))
                try await other.send(Monica.SetTags(id: made.id, names: ["tag of \(name)"]))
                try await other.send(
                    Monica.Create<Monica.Note>(Monica.NoteDraft(contactID: made.id, body: "a")))
            }
            func all<Element>(_ pages: some AsyncSequence<Element, any Error>) async throws -> [Element] {
                try await pages.reduce(into: []) { $0.append($1) }
            }
            // The one difference in a contact is that it always has a picture.
            var drawn = try await all(other.contacts())
            #expect(drawn.allSatisfy { $0.information.avatar.url != nil })
            for index in drawn.indices { drawn[index].information.avatar.url = nil }
            #expect(try await all(plain.contacts()) == drawn)
            #expect(try await all(plain.notes()).map(\.body) == all(other.notes()).map(\.body))
            #expect(try await all(plain.tags()).map(\.name) == all(other.tags()).map(\.name))
            #expect(try await all(other.tags()).count == 40)
        }
    }
}
