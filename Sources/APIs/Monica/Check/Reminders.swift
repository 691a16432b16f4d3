@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let reminders: [Scenario<MonicaWorld>] = [
        Scenario("A reminder is the same wherever shown", clause: "GET /reminders") { world, owner in
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let bodies: [JSONValue] = [
                [
                    "contact_id": person.json, "title": "Plants", "description": "Not the cactus",
                    "initial_date": "2024-02-29", "frequency_type": "year", "frequency_number": 1,
                ],
                [
                    "contact_id": person.json, "title": "Visit", "description": "With cake",
                    "initial_date": "2024-01-31", "frequency_type": "month", "frequency_number": 3,
                ],
            ]
            try await owner.follow("reminders", "reminder", of: person, bodies) { body in
                var shown = body.members
                shown["contact_id"] = nil
                shown["delible"] = true
                shown["initial_date"] = .string("\(body["initial_date"]?.string ?? "")T00:00:00Z")
                return shown
            } whole: {
                let contact = try await owner.get("/contacts/\(person)").succeeded(200)["data"]
                try expect(contact?["statistics"]?["number_of_reminders"], equals: 2)
                return try await owner.get("/contacts/\(person)/reminders").succeeded(200)["data"]
            }
        },
        Scenario("A reminder says what is wrong with it", clause: "POST /reminders") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let whole: JSONValue = [
                "contact_id": john.json, "title": "x", "initial_date": "2024-02-29", "frequency_type": "one_time",
                "frequency_number": 1,
            ]
            let own =
                "/reminders/\(try await owner.raw(.post, "/reminders", whole).succeeded(201)["data"]?["id"] ?? nil)"
            let (date, unit) = ("The initial date is not a valid date.", "The selected frequency type is invalid.")
            let number = "The frequency number must be between 1 and 1000."
            let table: [([String: JSONValue], String)] = [
                (["title": " "], "The title field is required."), (["initial_date": "2023-02-29"], date),
                (["initial_date": "29.2.2024"], "The initial date does not match the format Y-m-d."),
                (["frequency_type": "day"], unit), (["frequency_number": 0], number),
                (["frequency_number": 1001], number),
                (["frequency_number": nil], "The frequency number field is required."),
                (["description": 7], "The description must be a string."),
                (
                    [
                        "contact_id": "x", "title": 7, "initial_date": "2023-02-29", "frequency_type": "day",
                        "frequency_number": "x",
                    ],
                    "The contact id must be an integer. \(date) \(unit) The frequency number must be an integer. "
                        + "The title must be a string."
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(whole.members.merging(fields) { $1 })
                try await owner.raw(.post, "/reminders", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            let everything =
                "The contact id field is required. The initial date field is required. The frequency type field is "
                + "required. The frequency number field is required. The title field is required."
            try await owner.raw(.post, "/reminders", [:]).refused(422, 32, everything)
            try await owner.raw(.put, own, [:]).refused(422, 32, everything)
            let nobody = "The requested contact was not found."
            for contact in [jane, 999_999_999] {
                let body = JSONValue.object(whole.members.merging(["contact_id": contact.json]) { $1 })
                try await owner.raw(.put, own, body).refused(404, 31, nobody)
                if contact != jane { try await owner.raw(.post, "/reminders", body).refused(404, 31, nobody) }
            }
        },
        Scenario("The next dates of reminders come by month", clause: "GET /reminders/upcoming") { world, owner in
            let john = try await owner.contact("John")
            let days = try await owner.calendar(at: john.createdAt)
            func remind(_ day: String, _ unit: Monica.ReminderFrequency, every number: Int = 1) async throws -> Int {
                let draft = Monica.ReminderDraft(
                    contactID: john.id, title: world.freshWord(), initialDate: try Day(checked: day),
                    frequencyType: unit, frequencyNumber: number, description: "x")
                return try await owner.client.create(draft).id
            }
            let later = try await remind(days.day(20, ofMonth: 2), .oneTime)
            let sooner = try await remind(days.day(10, ofMonth: 2), .oneTime)
            _ = try await remind("2020-02-29", .oneTime)
            let lastDay = try await remind("2020-01-31", .month)
            let third = try await remind("2020-01-15", .month, every: 3)
            let leap = try await remind("2020-02-29", .year)
            let monday = try await remind("2020-01-06", .week, every: 2)
            var (dates, months): ([Int: String], [Int: Int]) = ([:], [:])
            for month in 0...12 {
                let rows = try await owner.upcoming(month, of: john.id)
                let shown = rows.compactMap { $0["planned_date"]?.string }
                try expect(shown, equals: shown.sorted())
                for row in rows {
                    guard let id = row["reminder_id"]?.integer.map(Int.init), dates[id] == nil else {
                        throw CheckFailure("a reminder is there twice: \(row)")
                    }
                    let reminder = try await owner.get("/reminders/\(id)").succeeded(200)["data"]
                    for (member, value) in reminder?.members ?? [:] where !["id", "uuid"].contains(member) {
                        try expect(row[member], equals: value)
                    }
                    dates[id] = row["planned_date"]?.string.map { String($0.prefix(10)) }
                    months[id] = month
                }
            }
            try expect(Set(dates.keys), equals: Set([later, sooner, lastDay, third, leap, monday]))
            try expect([dates[later], dates[sooner]], equals: [days.day(20, ofMonth: 2), days.day(10, ofMonth: 2)])
            try expect([months[later], months[sooner]], equals: [2, 2])
            try expect(try dates[lastDay].map(Day.init(checked:)).map(days.isLastOfMonth), equals: true)
            try expect((months[lastDay] ?? 2) <= 1, "the last day of a month is not in this one or the next")
            try expect(dates[third]?.wholeMatch(of: #/\d{4}-(01|04|07|10)-15/#) != nil, "\(dates[third] ?? "")")
            try expect(dates[leap]?.wholeMatch(of: #/\d{4}-02-2[89]/#) != nil, "\(dates[leap] ?? "")")
            let wait = try dates[monday].map { try days.today.distance(to: Day(checked: $0)) }
            try expect((0...14).contains(wait ?? -1), "\(dates[monday] ?? "") is not within two weeks")
            let passed = try dates[monday].map { try Day(checked: "2020-01-06").distance(to: Day(checked: $0)) }
            try expect((passed ?? 1) % 14, equals: 0)
            // A reminder that was changed or deleted, or whose contact was deleted, is not upcoming.
            try await owner.client.update(
                sooner,
                Monica.ReminderDraft(contactID: john.id, title: "x", initialDate: Day(checked: "2020-01-01")))
            try expect(
                try await owner.upcoming(2, of: john.id).contains { $0["reminder_id"] == sooner.json }, equals: false)
            try await owner.client.delete(Monica.Reminder.self, id: lastDay)
            try await owner.client.delete(Monica.Reminder.self, id: later)
            try expect(
                try await owner.upcoming(2, of: john.id).contains { $0["reminder_id"] == later.json }, equals: false)
            try await owner.client.delete(Monica.Contact.self, id: john.id)
            for month in 0...12 { try expect(try await owner.upcoming(month, of: john.id), equals: []) }
        },
        Scenario("Only a month that there is can be asked for", clause: "GET /reminders/upcoming") { _, owner in
            for month in ["x", "-1", "1.5"] {
                try await owner.get("/reminders/upcoming/\(month)")
                    .refused(400, 41, "The month parameter must be 0 or a positive integer", month)
            }
            for month in ["1200", "999999999", "9223372036854775807"] {
                let rows = try await owner.get("/reminders/upcoming/\(month)").succeeded(200, month)["data"]
                try expect(month == "1200" || rows == [], "there are reminders in month \(month)")
            }
            try await owner.get("/reminders/upcoming").refused(404, 31, "The requested reminder was not found.")
        },
    ]
}

/// The days of an account, by its zone.
private struct OwnersDays {
    let today: Day

    /// Returns a day of a month that is some months from now.
    func day(_ day: Int, ofMonth month: Int) -> String {
        let parts = today.description.split(separator: "-").compactMap { Int($0) }
        let number = (parts.first ?? 0) * 12 + (parts.dropFirst().first ?? 1) - 1 + month
        return String(format: "%04d-%02d-%02d", number / 12, number % 12 + 1, day)
    }

    func isLastOfMonth(_ day: Day) -> Bool { day.advanced(by: 1).description.hasSuffix("-01") }
}

extension Owner {
    fileprivate func calendar(at now: Monica.Timestamp) async throws -> OwnersDays {
        let name = try await get("/me").succeeded(200)["data"]?["timezone"]?.string ?? "UTC"
        return OwnersDays(today: Day(now.date, in: TimeZone(identifier: name) ?? .gmt))
    }

    /// Returns a contact's reminders of a month.
    fileprivate func upcoming(_ month: Int, of contact: Int) async throws -> [JSONValue] {
        let rows = try await get("/reminders/upcoming/\(month)").succeeded(200)["data"]?.elements ?? []
        return rows.filter { $0["contact"]?["id"] == contact.json }
    }
}
