@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let addresses: [Scenario<MonicaWorld>] = [
        Scenario("An address is the same wherever shown", clause: "GET /addresses") { world, owner in
            let countries = try await owner.get("/countries").succeeded(200)["data"]?.elements ?? []
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let home: JSONValue = [
                "contact_id": person.json, "name": "home", "street": "1 rue de la Paix", "city": "Paris",
                "province": "Île-de-France", "postal_code": "75002", "country": "FR",
            ]
            let work: JSONValue = [
                "contact_id": person.json, "name": "Office; old", "street": "2 High Street", "city": "London",
                "province": "England", "postal_code": "SW1", "country": "gb",
            ]
            try await owner.follow("addresses", "address", of: person, [home, work]) { body in
                var shown = body.members
                shown["contact_id"] = nil
                let code = body["country"] == "FR" ? "FR" : "GB"
                shown["country"] = countries.first { $0["id"]?.string == code } ?? .null
                return shown
            } whole: {
                let listed = try await owner.get("/contacts/\(person)").succeeded(200)["data"]?["addresses"]
                try expect(listed?.elements.map { $0["country"] }, equals: ["France", "United Kingdom"])
                for line in [
                    "ADR;TYPE=home:;;1 rue de la Paix;Paris;Île-de-France;75002;France",
                    #"ADR;X-NAME="Office; old":;;2 High Street;London;England;SW1;United Kingdom"#,
                ] {
                    let cards = try await owner.get("/export/vcard").text.replacing("\r\n ", with: "")
                    try expect(cards.contains("\r\n\(line)\r\n"), "no \(line)")
                }
                return listed
            }
        },
        Scenario("An address says what is wrong with it, and may lack everything", clause: "POST /addresses") {
            _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let made = try await owner.raw(.post, "/addresses", ["contact_id": john.json]).succeeded(201)["data"]
            let own = "/addresses/\(made?["id"] ?? nil)"
            let texts = ["name", "street", "city", "province", "postal_code", "country"]
            for member in texts { try expect(made?[member], equals: .null) }
            let table: [(JSONValue, String)] = [
                ([:], "The contact id field is required."),
                (["contact_id": john.json, "country": "XX"], "The selected country is invalid."),
                (
                    ["contact_id": "x", "name": 1, "city": .string(String(repeating: "x", count: 256))],
                    "The contact id must be an integer. The name must be a string. "
                        + "The city may not be greater than 255 characters."
                ),
            ]
            for (body, text) in table {
                try await owner.raw(.post, "/addresses", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            for contact in [jane, 999_999_999] {
                try await owner.raw(.put, own, ["contact_id": contact.json])
                    .refused(404, 31, "The requested contact was not found.")
            }
            try await owner.raw(.post, "/addresses", ["contact_id": 999_999_999])
                .refused(404, 31, "The requested contact was not found.")
            // A text that is not a country's name is kept as the card has it.
            let free = try await owner.raw(.put, own, ["contact_id": john.json, "country": "Atlantis"]).succeeded(200)
            try expect(
                free["data"]?["country"], equals: ["id": nil, "object": "country", "name": "Atlantis", "iso": nil])
        },
        Scenario("The countries are those of ISO 3166, by name", clause: "GET /countries") { _, owner in
            let countries = try await owner.get("/countries").succeeded(200)["data"]?.elements ?? []
            try expect(countries.count, equals: 249)
            for country in countries {
                try expect(country["iso"], equals: country["id"])
                try expect(country["iso"]?.string?.wholeMatch(of: #/[A-Z]{2}/#) != nil, "the code of \(country)")
            }
            let names = countries.compactMap { $0["name"]?.string }
            try expect(Set(names).count, equals: 249)
            for (name, code) in ["Afghanistan": "AF", "France": "FR", "Germany": "DE", "Zimbabwe": "ZW"] {
                try expect(countries.first { $0["name"]?.string == name }?["id"], equals: .string(code))
            }
            try expect([names.first, names.last], equals: ["Afghanistan", "Zimbabwe"])
        },
    ]
}
