import Database
import MonicaAPI
import Testbed
import Testing

@testable import MonicaService

/// Frequent queries use an index, however many contacts there are.
@Suite(.timeLimit(.minutes(30))) struct MonicaQueryPlanTests {
    private static let sorts: [Monica.Sort<Monica.ContactOrder>?] = [
        nil, .descending(.createdAt), .ascending(.updatedAt), .descending(.updatedAt),
    ]

    @Test(arguments: sorts)
    func listsAreReadFromAnIndexInTheirOrder(_ sort: Monica.Sort<Monica.ContactOrder>?) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let plan = try await host.database.read { db in
                try db.plan(of: "\(Contacts.query(of: 1, by: sort)) LIMIT 50 OFFSET 100")
            }
            #expect(plan.count == 1)
            #expect(plan.first?.contains("USING COVERING INDEX contacts_") == true, "\(plan)")
        }
    }

    /// Details have no account of their own, so those of an account are found by its contacts.
    @Test func detailsAreFoundByAnIndex() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let owned: [SQL] = [
                "contact_fields t WHERE \(Monica.ContactField.owned(by: 1))",
                "addresses t WHERE \(Monica.Address.owned(by: 1))", "contact_fields t WHERE t.type_id = 1",
            ]
            for rows in owned {
                let plan = try await host.database.read { try $0.plan(of: "SELECT COUNT(*) FROM \(rows)") }
                #expect(plan.first?.contains("SEARCH t USING") == true, "\(plan)")
            }
        }
    }

    @Test func cardsAreKnownByAnIndex() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let plans = try await host.database.read { db in
                [
                    try db.plan(of: "SELECT 1 FROM contacts WHERE account_id = 1 AND card = \([1, 2, 3] as [UInt8])"),
                    try db.plan(of: "SELECT 1 FROM contacts WHERE account_id = 1 AND uuid = 'x'"),
                    try db.plan(
                        of: "SELECT id FROM contacts WHERE account_id = 1 AND id > 5 AND id <= 9 ORDER BY id LIMIT 100"),
                    try db.plan(of: "SELECT id FROM addresses WHERE contact_id IN (1, 2) ORDER BY id"),
                ]
            }
            for plan in plans { #expect(plan.first?.contains("SEARCH") == true, "\(plan)") }
        }
    }
}
