import Foundation

extension Benchmark {
    /// Measures single requests: an app asks for a page, or for the text that its user has typed so far.
    static let contacts = Benchmark(
        name: "contacts",
        abstract: "lists and searches of Monica in an account of 100,000 contacts (GET), one at a time"
    ) { setting in
        try await setting.onEachEngine { place in
            let count = 100_000
            let imported = try importContacts(count, to: place, setting)
            let name = place.name("contacts")
            var rows = [
                Row(name: name + "import of \(count) vCards", unit: "/s", result: Double(count) / imported.inSeconds)
            ]
            // This is the state in which the housekeeping of PostgreSQL leaves the table.
            if let database = place.database { try BenchmarkDatabase.psql(database.url, "VACUUM ANALYZE") }
            let server = try place.serve(setting.concord, "monica")
            defer { server.stop() }
            let comparison = Comparison(server: server, setting: setting, database: place.database)
            for (title, query, aim) in requests {
                let each = try contactRequests(301, query, to: server, place, setting)
                rows += try await comparison.oneByOne(name + title, each, aim: aim)
            }
            return rows
        }
    }

    /// Imports contacts into an account.
    ///
    /// - Returns: The time that it took.
    static func importContacts(_ count: Int, to place: Place, _ setting: Setting) throws -> Duration {
        let file = place.folder + "/contacts.vcf"
        try cards(count).write(to: URL(fileURLWithPath: file))
        let start = ContinuousClock.now
        _ = try Spawn.run(setting.concord, ["monica", "import", file, "--account", "anna"] + place.arguments)
        return ContinuousClock.now - start
    }

    /// Returns requests for a page of that account's contacts, with new tokens.
    static func contactRequests(
        _ count: Int, _ query: String, to server: ServerProcess, _ place: Place, _ setting: Setting
    ) throws -> [String] {
        // A token may be used for a hundred requests a minute.
        let tokens = try (0..<(count + 98) / 99).map { _ in
            try Spawn.run(setting.concord, ["monica", "token", "create", "--account", "anna"] + place.arguments)
                .output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return (0..<count).map { number in
            Exchange.request(
                "GET", "/api/contacts\(query)", port: server.port, token: tokens[number % tokens.count],
                keepAlive: true)
        }
    }

    private static let requests: [(title: String, query: String, aim: Double)] = [
        ("first page", "", 20), ("last page", "?page=2000", 20), ("last changed", "?sort=-updated_at", 20),
        ("search, 1 match", "?query=nadja77777", 50), ("search, 1,000 matches", "?query=berg42+nadja", 50),
        ("search, every contact", "?query=na", 50),
        ("search, every contact, last changed", "?query=na&sort=-updated_at", 50),
        ("search, none", "?query=zzzzzz", 50),
    ]

    /// Returns cards. One in a hundred has `berg42` in its name.
    private static func cards(_ count: Int) -> Data {
        var text = ""
        for number in 0..<count {
            text += """
                BEGIN:VCARD\r
                VERSION:4.0\r
                FN:Nadja\(number) Lindberg\(number % 100)\r
                N:Lindberg\(number % 100);Nadja\(number);Marie;;\r
                NICKNAME:Nadjuscha\r
                EMAIL:nadja\(number)@example.com\r
                BDAY:19801010\r
                ORG:Example\r
                TITLE:Gardener\r
                NOTE:We met at the usual place by the river.\r
                END:VCARD\r

                """
        }
        return Data(text.utf8)
    }
}
