import Foundation

extension Benchmark {
    /// One request after the other, as a person's app sends them: what counts is how long one takes.
    static let contacts = Benchmark(
        name: "contacts", abstract: "lists and searches of Monica in an account of 100,000 contacts, one at a time"
    ) { setting in
        try await Leftovers.withFolder { folder in
            let count = 100_000
            let file = folder + "/contacts.vcf"
            try cards(count).write(to: URL(fileURLWithPath: file), options: [])
            let place = ["--data", folder]
            let start = ContinuousClock.now
            _ = try Spawn.run(setting.concord, ["import", "monica", file, "--account", "anna"] + place)
            let imported = ContinuousClock.now - start
            // A token may ask a hundred times a minute.
            let tokens = try (0..<7).map { _ in
                try Spawn.run(setting.concord, ["token", "monica", "--account", "anna"] + place)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let server = try ServerProcess(
                setting.concord, ["serve", "monica", "--port", "monica=0", "--log-level", "warning"] + place)
            defer { server.stop() }
            var rows = [
                Row(
                    name: "contacts, import of \(count) vCards", unit: "/s",
                    result: Double(count) / imported.inSeconds)
            ]
            let requests: [(name: String, path: String, aim: Double)] = [
                ("first page", "/api/contacts", 20), ("last page", "/api/contacts?page=2000", 20),
                ("by change", "/api/contacts?sort=-updated_at", 20),
                ("search, 1 match", "/api/contacts?query=nadja77777", 50),
                ("search, 1,000 matches", "/api/contacts?query=berg42+nadja", 50),
                ("search, every contact", "/api/contacts?query=na", 50),
                ("search, none", "/api/contacts?query=zzzzzz", 50),
            ]
            for (request, token) in zip(requests, tokens) {
                let get = Exchange.request("GET", request.path, port: server.port, token: token, keepAlive: true)
                let answer = try Exchange.answer(to: get, port: server.port)
                let floor = try ServerProcess.floor("floor-http", ["--status", "200", "--body", answer])
                defer { floor.stop() }
                let bare = Exchange.request("GET", "/chats/1/messages", port: floor.port, keepAlive: true)
                var (times, floors): ([Double], [Double]) = ([], [])
                for _ in 0..<60 {
                    times.append(try milliseconds { _ = try Exchange.answer(to: get, port: server.port) })
                    floors.append(try milliseconds { _ = try Exchange.answer(to: bare, port: floor.port) })
                }
                rows.append(
                    Row(
                        name: "contacts, \(request.name): p50", unit: "ms", result: times.median, floor: floors.median,
                        beside: "a bare Hummingbird route, \(answer.utf8.count) bytes", aim: .atMost(request.aim)))
            }
            return rows
        }
    }

    private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start).inMilliseconds
    }

    /// `berg42` is in the names of one in a hundred.
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
