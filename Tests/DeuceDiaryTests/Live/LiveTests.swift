import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// The SDK's live connection works with the server. ``DeuceDiaryFaultTests`` tests it on a bad network.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryLiveTests {
    @Test("Delivers the logs of others from now on, and not the caller's own", arguments: Stack.all)
    func fromNowOn(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            try await john.log("before", in: group)
            let live = jane.client.live(group: group, pacing: .patient)
            let events = live.makeAsyncIterator()
            try await events.expect("connected \(group)")
            for index in 0..<3 {
                try await jane.log("my own", in: group)
                try await john.log("\(index)", in: group)
                try await events.expect("\(index)")
            }
        }
    }

    @Test("Delivers everything after an entry first, in any number of pages", arguments: Stack.all)
    func since(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            try await john.log("known", in: group)
            let known = try await jane.entries(of: group).first
            for index in 0..<130 { try await (index % 3 == 0 ? jane : john).log("\(index)", in: group) }
            let live = jane.client.live(group: group, since: known, pacing: .patient)
            let events = live.makeAsyncIterator()
            try await events.expect("connected \(group)")
            for index in 0..<130 where index % 3 != 0 { try await events.expect("\(index)") }
            try await john.log("live", in: group)
            try await events.expect("live")
        }
    }

    @Test("Several tasks share a connection, and each has every event", arguments: Stack.all)
    func sharing(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group(with: jane)
            let live = jane.client.live(group: group, pacing: .patient)
            var all = [live.makeAsyncIterator(), live.events.makeAsyncIterator(), live.events.makeAsyncIterator()]
            for events in all { try await events.expect("connected \(group)") }
            try await john.log("one", in: group)
            for events in all { try await events.expect("one") }
            // The others go on without one of them.
            all.removeLast()
            try await john.log("two", in: group)
            for events in all { try await events.expect("two") }
            live.close()
            for events in all { #expect(try await events.next() == nil) }
        }
    }

    @Test("Switches to another group, and back", arguments: Stack.all)
    func changing(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let (one, two) = (try await john.group(with: jane), try await john.group(with: jane))
            let live = jane.client.live(group: one, pacing: .patient)
            let events = live.makeAsyncIterator()
            try await events.expect("connected \(one)")
            await live.change(to: two)
            try await events.expect("connected \(two)")
            try await john.log("unheard", in: one)
            try await john.log("heard", in: two)
            try await events.expect("heard")
            let seen = try await jane.entries(of: one).first
            try await john.log("missed", in: one)
            await live.change(to: one, since: seen)
            try await events.expect("connected \(one)", "missed")
        }
    }

    @Test("Reports a group that the caller may not join", arguments: Stack.all)
    func refused(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let (own, foreign) = (try await jane.group(with: john), try await john.group())
            // The contract lets any socket join any group and sends no refusal, so the SDK asks by an HTTP request.
            let live = jane.client.live(group: foreign, pacing: .patient)
            let events = live.makeAsyncIterator()
            try await events.expect("refused \(foreign)")
            try await john.log("unheard", in: foreign)
            await live.change(to: own)
            try await events.expect("connected \(own)")
            try await john.log("heard", in: own)
            try await events.expect("heard")
        }
    }

    @Test("Ends when the app has no token any more, and when the app closes it")
    func ends() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            let client = DeuceDiaryClient(
                baseURL: host.baseURL, transport: host.transport, sockets: host.sockets, retry: .never,
                token: { throw SignedOut() })
            await #expect(throws: SignedOut.self) {
                for try await _ in client.live(group: group, pacing: .init(base: .zero)) {}
            }
            let live = john.client.live(group: group, pacing: .patient)
            for try await event in live {
                if case .connected = event { live.close() }
            }
        }
    }
}

extension DeuceDiaryLive.Iterator {
    /// Returns a description of the next event; of an entry, its thoughts.
    func words() async throws -> String {
        switch try #require(try await next()) {
        case .connected(let group): "connected \(group)"
        case .disconnected(let reason, _): "disconnected: \(reason)"
        case .logged(let notice): notice.entry.thoughts
        case .refused(let group): "refused \(group)"
        }
    }

    func expect(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for expected in expected {
            let found = try await words()
            #expect(found == expected, sourceLocation: sourceLocation)
        }
    }
}
