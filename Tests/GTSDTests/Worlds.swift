import Backend
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDAPI
import GTSDCheck
import GTSDClient
import GTSDExamples
import Testbed

extension GTSDHost {
    /// - Parameter coverage: Records the examples that the world's scenarios have seen.
    func world(_ coverage: Coverage? = nil) -> GTSDWorld {
        let described = DescribedTransport(transport, sockets, baseURL: baseURL, Described.api)
        var server = Server(baseURL: baseURL, transport: described, sockets: described)
        server.coverage = coverage
        return GTSDWorld(server, operator: `operator`)
    }

    /// The server's operator, who reads e-mails for scenarios.
    var `operator`: GTSDWorld.Operator {
        .init { [service, database, folder] address in
            try await service.sendDueEmails()
            // The node itself may be sending them at this moment. The clock, which a look at it moves on, is left alone.
            while try await database.read({ try $0.exists("SELECT 1 FROM outbox") }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            return try emails(in: "\(folder)/mail/gtsd", to: address)
        }
    }
}

extension TestClock {
    /// Sets the clock to a time.
    func set(_ text: String) {
        guard let time = GTSD.Timestamp(text) else { preconditionFailure("no time: \(text)") }
        advance(by: .milliseconds(time.milliseconds - source.milliseconds()))
    }

    convenience init(at text: String) {
        guard let time = GTSD.Timestamp(text) else { preconditionFailure("no time: \(text)") }
        self.init(milliseconds: time.milliseconds)
    }
}

func day(_ text: String) -> Day {
    guard let day = Day(text) else { preconditionFailure("no day: \(text)") }
    return day
}

func time(_ text: String) -> GTSD.Timestamp {
    guard let time = GTSD.Timestamp(text) else { preconditionFailure("no time: \(text)") }
    return time
}

/// The API's description, which every answer to a scenario is held to.
enum Described {
    static let api = SharedDescription(GTSD.self, title: "GTSD", examples: GTSDExamples.all)
}
