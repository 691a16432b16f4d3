import Foundation

/// Lines that show a figure against the load or against the size of the data.
struct Chart {
    /// A point of a line.
    struct Point {
        let x: Double
        let y: Double
    }

    struct Line {
        let name: String
        var points: [Point] = []
    }

    let title: String
    /// The label of the horizontal axis, whose scale is logarithmic.
    let horizontal: String
    /// The unit of the vertical axis, whose scale begins at 0.
    let vertical: String
    var lines: [Line]

    /// A chart's name, which is that of its file without the extension, and what measures it.
    typealias Source = (name: String, measure: @Sendable (Setting) async throws -> Chart)

    static let all: [Source] = [("connections", connections), ("sizes", sizes)]

    /// Measures and draws charts.
    ///
    /// - Parameter folder: The folder for the files, which is created if there is none.
    static func draw(_ charts: [Source], _ setting: Setting, in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, measure) in charts {
            let chart = try await measure(setting)
            let path = "\(folder)/\(name).svg"
            try chart.svg.write(toFile: path, atomically: true, encoding: .utf8)
            print(path)
            for line in chart.lines {
                let points = line.points.map { "\(Int($0.x)): \(String(format: "%.0f", $0.y))" }
                print("  \(line.name.padded(to: 30)) \(points.joined(separator: ", "))")
            }
        }
    }

    // MARK: The rate against the number of connections

    @Sendable private static func connections(_ setting: Setting) async throws -> Chart {
        let seed: MessengerServer.Seed = { try Benchmark.fillSQLite($0, user: $1, chat: $2, messages: 100_000) }
        return try await MessengerServer.run(setting.concord, seed: seed) { server in
            let answer = try Exchange.answer(to: server.newestFifty, port: server.port)
            let bare = try ServerProcess.floor("floor-http", ["--status", "200", "--body", answer])
            defer { bare.stop() }
            let list = Exchange.request("GET", "/chats", port: server.port, token: server.token, keepAlive: true)
            let subjects: [(name: String, process: ServerProcess, request: String)] = [
                ("list of one chat", server.process, list), ("durable send", server.process, server.send),
                ("history of 50", server.process, server.newestFifty),
                ("a bare route", bare, server.newestFifty),
            ]
            var lines = subjects.map { Line(name: $0.name) }
            for count in [1, 4, 16, 64, 256] {
                Report.note("rate: \(count) connections")
                let series = try await subjects.asyncMap {
                    try await HTTPSeries($0.process, sending: $0.request, connections: count)
                }
                for _ in 0..<setting.turns { for each in series { try await each.run(setting.turn) } }
                for (index, each) in series.enumerated() {
                    lines[index].points.append(Point(x: Double(count), y: each.rate))
                    try await each.close()
                }
            }
            return Chart(
                title: "Rate against connections", horizontal: "connections",
                vertical: "requests a second", lines: lines)
        }
    }

    // MARK: The cost against the size of the data

    @Sendable private static func sizes(_ setting: Setting) async throws -> Chart {
        let all = [1000, 10_000, 100_000, 1_000_000]
        let history = try await line("history of a chat", all, setting) { count, measure in
            let messages: MessengerServer.Seed = {
                try Benchmark.fillSQLite($0, user: $1, chat: $2, messages: count)
            }
            return try await MessengerServer.run(setting.concord, seed: messages) { server in
                try await measure { try await Subject(server.process, sending: server.newestFifty, setting) }
            }
        }
        let feed = try await line("feed", all, setting) { count, measure in
            try await Benchmark.withFeed(of: count, setting) { server, cookie in
                let get = Exchange.request(
                    "GET", "/api/feed?limit=50", port: server.port, cookie: cookie, keepAlive: true)
                return try await measure { try await Subject(server, sending: get, setting) }
            }
        }
        let group = try await line("entries of a group", all, setting) { count, measure in
            let entries = { try Benchmark.fillGroup($0, user: $1, group: $2, entries: count) }
            return try await DeuceDiaryServer.run(setting.concord, seed: entries) { server in
                let get = Exchange.request(
                    "GET", "/api/groups/\(server.group)?limit=50", port: server.port, token: server.token,
                    keepAlive: true)
                return try await measure { try await Subject(server.process, sending: get, setting) }
            }
        }
        let photos = try await line("photos", all, setting) { try await withPhotos($0, setting, $1) }
        // An import of a million contacts takes minutes.
        let contacts = try await line("contacts", all.dropLast(), setting) { try await withContacts($0, setting, $1) }
        return Chart(
            title: "CPU of a page of 50 against all there is", horizontal: "rows",
            vertical: "µs of CPU a request", lines: [history, feed, group, contacts, photos])
    }

    /// A server under load, in turns.
    private struct Subject {
        let series: ServerSeries
        let run: (_ turn: Int) async throws -> Void

        init(_ process: ServerProcess, sending request: String, _ setting: Setting) async throws {
            let series = try await HTTPSeries(process, sending: request)
            self.series = series
            run = { _ in try await series.run(setting.turn) }
        }

        /// Asks one request after the other, a part of them in each turn.
        init(_ process: ServerProcess, sending requests: [String], _ setting: Setting) async throws {
            let series = try await OneByOne(process)
            self.series = series
            let length = requests.count / setting.turns
            run = { try await series.run(Array(requests[($0 * length)..<(($0 + 1) * length)])) }
        }
    }

    /// Measures the other servers while one runs, and returns the cost of a request to each, in microseconds of CPU. It
    /// connects when all of them run, because a server closes connections that wait for long.
    private typealias Measure = (_ connect: @escaping () async throws -> Subject) async throws -> [Double]

    /// Measures servers that have different numbers of rows. All of them run at once and are asked in turns, so that what
    /// else the machine does falls on each.
    private static func line(
        _ name: String, _ counts: [Int], _ setting: Setting, open: @escaping (Int, Measure) async throws -> [Double]
    ) async throws -> Line {
        func costs(_ rest: ArraySlice<Int>, beside others: [() async throws -> Subject]) async throws -> [Double] {
            guard let count = rest.first else {
                let subjects = try await others.asyncMap { try await $0() }
                for turn in 0..<setting.turns { for each in subjects { try await each.run(turn) } }
                for each in subjects { try await each.series.close() }
                return subjects.map(\.series.cpu)
            }
            Report.note("\(name): \(count)")
            return try await open(count) { try await costs(rest.dropFirst(), beside: others + [$0]) }
        }
        let costs = try await costs(counts[...], beside: [])
        Report.note("\(name): \(costs.map { String(format: "%.0f", $0) }.joined(separator: ", ")) µs")
        return Line(name: name, points: zip(counts, costs).map { Point(x: Double($0), y: $1) })
    }

    private static func withContacts(_ count: Int, _ setting: Setting, _ measure: Measure) async throws -> [Double] {
        try await Leftovers.withFolder { folder in
            let place = Place(folder: folder, database: nil)
            _ = try Benchmark.importContacts(count, to: place, setting)
            let server = try place.serve(setting.concord, "monica")
            defer { server.stop() }
            // The number of requests is limited, so each turn is long enough to be measured.
            let requests = try Benchmark.contactRequests(3000, "?limit=50", to: server, place, setting)
            return try await measure { try await Subject(server, sending: requests, setting) }
        }
    }

    private static func withPhotos(_ count: Int, _ setting: Setting, _ measure: Measure) async throws -> [Double] {
        try await Leftovers.withFolder { folder in
            let place = Place(folder: folder, database: nil)
            // The first start creates the tables, and the key of the tokens.
            try place.serve(setting.concord, "gtsd").stop()
            let now = Int(Date().timeIntervalSince1970 * 1000)
            try place.fill("gtsd", Year.users(1, at: now) + [Year.photos(count, every: 1000, until: now)])
            let token = try await Year.tokens(1, folder: folder)[0]
            let server = try place.serve(setting.concord, "gtsd")
            defer { server.stop() }
            let get = Exchange.request("GET", "/v1/progress/photos", port: server.port, token: token, keepAlive: true)
            return try await measure { try await Subject(server, sending: get, setting) }
        }
    }
}

extension Array {
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var results: [T] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
