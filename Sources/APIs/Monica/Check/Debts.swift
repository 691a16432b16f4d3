@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let debts: [Scenario<MonicaWorld>] = [
        Scenario("A debt is the same wherever shown", clause: "GET /debts") { world, owner in
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let bodies: [JSONValue] = [
                [
                    "contact_id": person.json, "in_debt": "yes", "status": "inprogress", "amount": "12.50",
                    "reason": "Lunch",
                ],
                [
                    "contact_id": person.json, "in_debt": "no", "status": "completed", "amount": "7.05",
                    "reason": "Taxi",
                ],
            ]
            try await owner.follow("debts", "debt", of: person, bodies) { body in
                var shown = body.members
                shown["contact_id"] = nil
                shown["value"] = shown["amount"]
                shown["amount_with_currency"] = .string("$\(body["amount"]?.string ?? "")")
                return shown
            } whole: {
                let contact = try await owner.get("/contacts/\(person)").succeeded(200)["data"]
                try expect(contact?["statistics"]?["number_of_debts"], equals: 2)
                return try await owner.get("/contacts/\(person)/debts").succeeded(200)["data"]
            }
        },
        Scenario("A debt says what is wrong with it", clause: "POST /debts") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let whole: JSONValue = [
                "contact_id": john.json, "in_debt": "yes", "status": "inprogress", "amount": 3,
            ]
            let made = try await owner.raw(.post, "/debts", whole).succeeded(201)["data"]
            try expect(made?["amount"], equals: "3.00")
            try expect(made?["reason"], equals: .null)
            let own = "/debts/\(made?["id"] ?? nil)"
            let table: [([String: JSONValue], String)] = [
                (["in_debt": "maybe"], "The selected in debt is invalid."),
                (["status": "paid"], "The selected status is invalid."),
                (["amount": nil], "The amount field is required."),
                (["amount": "much"], "The amount must be a number."),
                (["amount": -1], "The selected amount is invalid."),
                (["reason": 7], "The reason must be a string."),
                (
                    ["contact_id": "x", "in_debt": 1, "status": nil, "amount": "1 €"],
                    "The in debt must be a string. The status field is required. The amount must be a number. "
                        + "The contact id must be an integer."
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(whole.members.merging(fields) { $1 })
                try await owner.raw(.post, "/debts", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            let nobody = "The requested contact was not found."
            for contact in [jane, 999_999_999] {
                let body = JSONValue.object(whole.members.merging(["contact_id": contact.json]) { $1 })
                try await owner.raw(.put, own, body).refused(404, 31, nobody)
                if contact != jane { try await owner.raw(.post, "/debts", body).refused(404, 31, nobody) }
            }
        },
    ]
}
