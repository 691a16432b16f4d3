import Database
import DeuceDiaryService
import Testbed
import Testing

/// How Deuce Diary's tables are laid out.
@Suite struct DeuceDiarySchemaTests {
    @Test(arguments: Stack.Engine.available)
    func noLocationIsSeededTwice(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            for _ in 0..<3 {
                let database = try place.open(DeuceDiaryService.schema)
                let seeds = try await database.read { db in
                    try db.value("SELECT COUNT(*) FROM locations WHERE is_default = 1", as: Int.self)
                }
                #expect(seeds == 8)
                try await database.close()
            }
        }
    }
}
