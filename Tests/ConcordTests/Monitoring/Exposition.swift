import ContractClient
import Foundation
import Testbed
import Testing

/// The metrics that an operator's port shows, read as a monitor reads them.
struct Exposition {
    let text: String
    /// The values by name and labels, as they are written: `concord_sockets{api="messenger"}`.
    let samples: [String: Double]

    /// Asks a server.
    init(port: Int) async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/metrics"))
        let answer = try await URLSessionTransport.patient.send(TransportRequest(method: .get, url: url), progress: nil)
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        self.init(String(decoding: answer.body, as: UTF8.self))
    }

    init(_ text: String) {
        self.text = text
        var samples: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            samples[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        self.samples = samples
    }

    subscript(_ sample: String) -> Double { samples[sample] ?? 0 }

    /// The sum over all samples of a name whose labels contain a text.
    func sum(_ name: String, _ label: String = "") -> Double {
        samples.filter { $0.key.hasPrefix(name + "{") && $0.key.contains(label) }.map(\.value).reduce(0, +)
    }

    /// The names of all metrics with their kinds, and those with a help text.
    var kinds: [String: String] {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[2]), String($0[3])) })
    }

    /// Asks a server until its metrics meet a condition.
    static func wait(port: Int, until condition: (Exposition) -> Bool) async throws -> Exposition {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            let exposition = try await Exposition(port: port)
            if condition(exposition) { return exposition }
            try #require(ContinuousClock.now < end, "\(exposition.text)")
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
