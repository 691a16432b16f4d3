import ContractCheck
import ContractClient
import DeuceDiaryClient
import DeuceDiaryService
import Foundation
import NIOPosix
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// An event at one node of a database reaches the sockets of the other.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct DeuceDiaryNodesTests {
    @Test("A log at one node arrives at the other in order, for any number of groups")
    func logs() async throws {
        try await withDeuceDiaryNodes(2, on: Stack(.postgreSQL, .live)) { nodes in
            let worlds = nodes.map { $0.world() }
            let john = try await worlds[0].person()
            // There are more groups than fit into one announcement between nodes.
            var groups: [DeuceDiary.Group.ID] = []
            for _ in 0..<DeuceDiary.LogDeuce.maximumGroups { groups.append(try await john.group()) }
            let heard = try #require(groups.last)
            let sockets = [try await worlds[1].rawSocket(in: heard), try await worlds[0].rawSocket(in: heard)]
            var expected: [DeuceDiary.DeuceEntry.ID] = []
            for index in 0..<20 {
                let into = index.isMultiple(of: 5) ? groups : [heard]
                let thoughts = String(repeating: "\(index) ", count: 100)
                let logged = try await john.send(
                    DeuceDiary.LogDeuce(groups: into, location: "Home", thoughts: thoughts))
                expected += logged.entries.filter { $0.groupId == heard }.map(\.id)
            }
            for socket in sockets {
                for id in expected {
                    let frame = try await socket.frame()
                    #expect(frame["entry"]?["id"] == id.json)
                    #expect(frame["userId"] == john.id.json)
                }
                await socket.close()
            }
        }
    }

    @Test("A token of a deleted account is refused at the other node within a second, and its sockets are closed")
    func deletions() async throws {
        try await withDeuceDiaryNodes(2, on: Stack(.postgreSQL, .inProcess), sockets: .member) { nodes in
            let john = try await nodes[0].world().person()
            let group = try await john.group()
            // The other node has John's account in its cache, because he asked there a moment before.
            let elsewhere = Person(
                id: john.id, token: john.token, client: john.client, world: nodes[1].world())
            try await elsewhere.get("/api/groups").succeeded()
            let query = [URLQueryItem(name: "token", value: john.token)]
            let url = nodes[1].baseURL.appendingPathComponent("ws").appending(queryItems: query)
            let socket = RawSocket(try await nodes[1].sockets.open(url, headers: [:], maximumMessageSize: 65_536))
            try await socket.send(["type": "join_group", "groupId": group.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            try await john.client.deleteAccount()
            try await john.get("/api/groups").refused(401, "Unauthorized")
            try await socket.expectClose(4001)
            // The same event ends the token's validity there.
            try await elsewhere.get("/api/groups").refused(401, "Unauthorized")
            nodes[0].clock.advance(by: .seconds(1))
            for node in nodes {
                let again = try await node.world().stranger(Bearer(subject: john.id.rawValue))
                #expect(try await again.send(DeuceDiary.ListGroups()).map(\.name) == ["Solo Deuces"])
            }
            try await elsewhere.get("/api/groups").refused(401, "Unauthorized")
        }
    }

    private static let modes: [DeuceDiaryService.SocketAuthentication] = [.open, .member]

    @Test("A member who leaves at one node is notified at the other", arguments: modes)
    func leaving(_ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiaryNodes(2, on: Stack(.postgreSQL, .inProcess), sockets: mode) { nodes in
            let john = try await nodes[0].world().person()
            let jane = try await nodes[0].world().person()
            let group = try await john.group(with: jane)
            let events = jane.client.live(
                group: group, over: nodes[1].sockets, pacing: .init(base: .zero)
            ).makeAsyncIterator()
            guard case .connected(group)? = try await events.next() else {
                return #expect(Bool(false), "not connected")
            }
            try await john.send(DeuceDiary.RemoveMember(group: group, user: jane.id))
            guard case .refused(group)? = try await events.next() else { return #expect(Bool(false), "not refused") }
        }
    }

    @Test("A socket with a token at one node is silent once its user is removed at the other", arguments: modes)
    func removal(_ mode: DeuceDiaryService.SocketAuthentication) async throws {
        try await withDeuceDiaryNodes(2, on: Stack(.postgreSQL, .inProcess), sockets: mode) { nodes in
            let (john, jane) = try await nodes[0].world().pair()
            let (group, other) = (try await john.group(with: jane), try await john.group(with: jane))
            let elsewhere = Person(id: jane.id, token: jane.token, client: jane.client, world: nodes[1].world())
            let socket = try await elsewhere.socket()
            try await socket.send(["type": "join_group", "groupId": group.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            let heard = try await john.log("heard", in: group)[0]
            try expect(try await socket.entry()["id"], equals: heard.id.json)
            try await john.send(DeuceDiary.RemoveMember(group: group, user: jane.id))
            try await socket.expect(["type": "error", "message": "Not a member of this group"])
            try await john.log("unheard", in: group)
            try await socket.send(["type": "join_group", "groupId": group.json])
            try await socket.expect(["type": "error", "message": "Not a member of this group"])
            try await socket.send(["type": "join_group", "groupId": other.json])
            try await socket.send(["type": "join_group", "groupId": "x"])
            try await socket.expect(["type": "error", "message": "Invalid groupId"])
            let next = try await john.log("heard", in: other)[0]
            try expect(try await socket.entry()["id"], equals: next.id.json)
            await socket.close()
        }
    }

    @Test("A picture that was uploaded at one node is available at the other")
    func pictures() async throws {
        try await withDeuceDiaryNodes(2, on: Stack(.postgreSQL, .inProcess)) { nodes in
            let john = try await nodes[0].world().person()
            let path = try #require(try await john.client.uploadProfilePicture(.sample).profileImageUrl)
            let answer = try await nodes[1].world().raw.send(.get, path)
            #expect(answer.status == 200)
            #expect(SampleImage.size(ofJPEG: answer.body)?.width == 200)
        }
    }

    @Test("A node that missed events closes its sockets, and the SDK reads what it missed")
    func deafness() async throws {
        try await withDeuceDiary(on: Stack(.postgreSQL, .inProcess)) { host in
            let john = try await host.world().person()
            let jane = try await host.world().person()
            let group = try await john.group(with: jane)
            // The second node does not receive events yet.
            let second = DeuceDiaryService(
                database: host.database, objects: host.objects, tokens: { [issuer = host.issuer] in issuer.read($0) },
                pictures: { _, _ in nil }, secret: .ofTests(9),
                group: MultiThreadedEventLoopGroup.ofTests, time: host.clock.source,
                settings: .init(publicURL: "http://test"))
            let elsewhere = InProcessSockets(second.sockets(), group: MultiThreadedEventLoopGroup.ofTests)
            let live = jane.client.live(group: group, over: elsewhere, pacing: .init(base: .zero))
            let events = live.makeAsyncIterator()
            guard case .connected? = try await events.next() else { return #expect(Bool(false), "not connected") }
            let missed = try await john.log("missed", in: group)
            let listening = Task { await second.listen() }
            defer { listening.cancel() }
            while let event = try await events.next() {
                if case .logged(let notice) = event {
                    #expect(notice.entry.id == missed[0].id)
                    break
                }
            }
            let next = try await john.log("live", in: group)
            while let event = try await events.next() {
                if case .logged(let notice) = event {
                    #expect(notice.entry.id == next[0].id)
                    break
                }
            }
        }
    }
}
