import ContractClient
import DeuceDiaryClient
import Foundation
import NIOConcurrencyHelpers
import NIOSockets
import Testbed
import Testing

@testable import DeuceDiaryCheck

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Every entry reaches every listener once and in order, although a proxy cuts connections, delays bytes and loses
/// answers.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryFaultTests {
    @Test(.timeLimit(.minutes(30)), arguments: Stack.Engine.available)
    func nothingIsMissedDoubledOrOutOfOrder(_ engine: Stack.Engine) async throws {
        let (logs, listeners, authors) = (120, 3, 2)
        try await withDeuceDiary(on: Stack(engine, .live)) { host in
            let port = try #require(host.baseURL.port)
            try await FaultyProxy.running(to: port) { proxy in
                let world = host.world()
                let people = try await world.people(authors + listeners)
                let group = try await people[0].group()
                let invite = try await people[0].send(DeuceDiary.CreateInvite(group: group)).id
                for person in people[1...] { try await person.send(DeuceDiary.JoinGroup(invite: invite)) }
                try await people[0].log("first", in: group)
                let first = try await people[0].entries(of: group).first

                let behind = try #require(URL(string: "http://127.0.0.1:\(proxy.port)"))
                let generator = NIOLockedValueBox(SeededGenerator(seed: 20_250_610))
                let heard = NIOLockedValueBox<[[String]]>(Array(repeating: [], count: listeners))
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for index in 0..<listeners {
                        let client = client(of: people[authors + index], at: behind)
                        tasks.addTask {
                            let live = client.live(
                                group: group, since: first, over: NIOSocketTransport(), pacing: .impatient)
                            for try await event in live {
                                guard case .logged(let notice) = event else { continue }
                                let count = heard.withLockedValue { heard in
                                    heard[index].append(notice.entry.thoughts)
                                    return heard[index].count
                                }
                                if count == logs { return }
                            }
                        }
                    }
                    proxy.setRule { _, _ in
                        generator.withLockedValue { generator in
                            switch Int.random(in: 0..<1000, using: &generator) {
                            case 0..<10: .cut
                            case 10..<16: .forwardAndCut
                            case 16..<40: .delay(.milliseconds(.random(in: 1...20, using: &generator)))
                            default: .forward
                            }
                        }
                    }
                    for index in 0..<authors {
                        let client = client(of: people[index], at: behind)
                        tasks.addTask {
                            for number in stride(from: index, to: logs, by: authors) {
                                try await client.send(
                                    DeuceDiary.LogDeuce(groups: [group], location: "Home", thoughts: "\(number)"))
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                proxy.setRule { _, _ in .forward }
                // Each entry arrived once and in the order of the feed, and no repeated log became a second entry.
                let stored = try await people[0].entries(of: group).map(\.thoughts).reversed().dropFirst()
                #expect(stored.sorted() == (0..<logs).map(String.init).sorted())
                for list in heard.withLockedValue({ $0 }) { #expect(list == Array(stored)) }
                let counts = try await people[0].send(DeuceDiary.GetGroup(group: group)).members.map(\.user.deuceCount)
                #expect(counts.reduce(0, +) == logs + 1)
                #expect(proxy.cuts > 2)
            }
        }
    }

    private func client(of person: Person, at url: URL) -> DeuceDiaryClient {
        let configuration = URLSessionConfiguration.concord
        // On Linux, only the time-out notices that a connection ended between a response's head and its body.
        configuration.timeoutIntervalForRequest = 2
        return DeuceDiaryClient(
            baseURL: url, transport: URLSessionTransport(configuration: configuration),
            retry: Retry(attempts: 100, base: .milliseconds(2), cap: .milliseconds(50)), token: { person.token })
    }
}

extension LiveConnection.Pacing {
    fileprivate static let impatient = LiveConnection.Pacing(
        pingInterval: .seconds(2), patience: .seconds(10), base: .milliseconds(5), cap: .milliseconds(50))
}
