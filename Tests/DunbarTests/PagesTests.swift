import ContractCheck
import DunbarClient
import Foundation
import Testbed
import Testing

@testable import DunbarCheck

/// The SDK reads whole lists in pages.
@Suite(.timeLimit(.minutes(30))) struct DunbarPagesTests {
    private func all<Pages: AsyncSequence>(_ pages: Pages) async throws -> [Pages.Element] {
        var all: [Pages.Element] = []
        for try await element in pages { all.append(element) }
        return all
    }

    @Test(arguments: Stack.all)
    func everyListIsReadToItsEnd(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let world = host.world()
            let john = try await world.person(isPrivate: false)
            let others = try await world.people(5, isPrivate: false)
            for other in others {
                try await other.client.follow(john.id)
                try await john.client.follow(other.id)
            }
            let ids = others.map(\.id)
            #expect(try await all(john.client.followers(of: john.id, pageSize: 2)).map(\.id) == ids.reversed())
            #expect(try await all(john.client.following(of: john.id, pageSize: 2)).map(\.id) == ids.reversed())
            let post = try await john.client.post("Hello")
            for number in 1...5 {
                try await john.client.send(Dunbar.AddComment(post: post.id, content: "\(number)"))
            }
            let comments = try await all(john.client.comments(on: post.id, pageSize: 2))
            #expect(comments.map(\.content) == ["5", "4", "3", "2", "1"])
            for other in others { try await john.client.send(Dunbar.Block(user: other.id)) }
            #expect(try await all(john.client.blocks(pageSize: 2)).map(\.id) == ids.reversed())
        }
    }

    @Test func requestsMayBeAnsweredWhileTheyAreRead() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world()
            let john = try await world.person()
            let others = try await world.people(5)
            for other in others {
                try await other.client.follow(john.id)
                try await john.client.follow(other.id)
            }
            #expect(try await all(john.client.outgoingRequests(pageSize: 2)).count == 5)
            var seen = 0
            for try await request in john.client.pendingRequests(pageSize: 2) {
                seen += 1
                try await john.client.send(Dunbar.RejectRequest(id: request.id))
            }
            #expect(seen == 5)
        }
    }
}
