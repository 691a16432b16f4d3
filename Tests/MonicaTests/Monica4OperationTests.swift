import Foundation
import MonicaAPI
import Testing

/// The operations of Monica 4, by its routes and controllers, and those of them that this API has.
@Suite(.timeLimit(.minutes(30))) struct Monica4OperationTests {
    /// The resources with the operations of each: a list, one, creation, change and deletion.
    private static let resources: [(String, [String])] = [
        (
            "LGCUD",
            [
                "contacts", "genders", "addresses", "pets", "notes", "calls", "conversations", "activities",
                "reminders", "tasks", "gifts", "debts", "tags", "journal", "activitytypes", "activitytypecategories",
                "lifeevents", "contactfieldtypes", "places", "companies", "occupations",
            ]
        ),
        ("GCUD", ["relationships", "contactfields"]), ("LGCD", ["photos", "documents"]),
        ("CUD", ["conversations/{}/messages"]),
        ("LG", ["currencies", "relationshiptypegroups", "relationshiptypes", "compliance", "me/compliance"]),
        ("L", ["statistics", "countries", "logs"]),
    ]

    private static let single = [
        "GET /", "GET /me", "POST /me/compliance", "PUT /me/contact", "DELETE /me/contact", "PUT /contacts/{}/work",
        "PUT /contacts/{}/food", "PUT /contacts/{}/introduction", "PUT /contacts/{}/avatar",
        "POST /contacts/{}/setTags", "POST /contacts/{}/unsetTags", "POST /contacts/{}/unsetTag",
        "GET /tags/{}/contacts", "GET /contacts/{}/logs", "PUT /gifts/{}/photo/{}", "GET /reminders/upcoming/{}",
    ]

    /// The lists of the records of one contact.
    private static let nested = [
        "addresses", "pets", "notes", "calls", "conversations", "activities", "reminders", "tasks", "gifts", "debts",
        "contactfields", "relationships", "photos", "documents",
    ]

    /// What no client but a wrapper of everything asks for.
    private static let absent = [
        "/statistics", "/compliance", "/me/compliance", "/me/contact", "/places", "/companies", "/occupations", "/logs",
        "/contacts/{}/logs",
    ]

    private static var operations: Set<String> {
        var operations = single + nested.map { "GET /contacts/{}/\($0)" }
        for (kinds, names) in resources {
            for name in names {
                operations += kinds.map { kind in
                    switch kind {
                    case "L": "GET /\(name)"
                    case "G": "GET /\(name)/{}"
                    case "C": "POST /\(name)"
                    case "U": "PUT /\(name)/{}"
                    default: "DELETE /\(name)/{}"
                    }
                }
            }
        }
        return Set(operations)
    }

    @Test func everyOperationIsServedOrLeftOutByDecision() {
        let (all, served) = (Self.operations, Self.served)
        #expect(all.count == 167)
        let missing = all.subtracting(served)
        let decided = all.filter { operation in
            let path = operation.split(separator: " ").last ?? ""
            return Self.absent.contains { path == $0 || path == $0 + "/{}" }
        }
        #expect(missing == decided)
        #expect(all.count - missing.count == 142)
    }

    private static var served: Set<String> {
        Set(Monica.endpoints.map { $0.signature.replacing(#/\{[^}]*\}/#, with: "{}") })
    }

    /// A program that people wrote for Monica 4, and the requests in its source.
    private struct Client: Decodable {
        let source: String
        let version: String
        let requests: [String]
    }

    /// The table of clients in the documentation has the numbers of the requests that Monica 4 has, and of those that are served.
    @Test func theRequestsOfRealClientsAreServed() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = try Data(contentsOf: tests.appendingPathComponent("Clients/monica.json"))
        let clients = try JSONDecoder().decode([String: Client].self, from: file)
        let page = tests.deletingLastPathComponent().appendingPathComponent("docs/moving-from-monica.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        var (all, answered) = (0, 0)
        for (name, client) in clients {
            let requests = Set(client.requests).intersection(Self.operations)
            let served = requests.intersection(Self.served)
            #expect(text.contains("| \(name) | \(requests.count) | \(served.count) |"), "\(name)")
            all += requests.count
            answered += served.count
        }
        #expect(clients.count == 11 && all == 522 && answered == 480)
        #expect(text.contains("| **all** | **\(all)** | **\(answered)** |"))
    }
}
