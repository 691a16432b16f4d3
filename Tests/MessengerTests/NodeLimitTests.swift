import ContractCheck
import HTTPTypes
import MessengerCheck
import Testbed
import Testing

/// Two nodes on one database share their limits, so that a load balancer's choice of node does not allow more attempts.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct NodeLimitTests {
    private let stack = Stack(.postgreSQL, .inProcess)

    /// Runs a test on two nodes as a client at one address sees them.
    private func withNodes(_ body: ([MessengerWorld]) async throws -> Void) async throws {
        try await withMessengerNodes(2, on: stack, peer: "203.0.113.1") { nodes in
            try await body(nodes.map { $0.world() })
        }
    }

    @Test("Ten failed sign-ins spread over both nodes, then the right password is refused on either")
    func signInsInTurn() async throws {
        try await withNodes { nodes in
            let (alice, bob) = (try await nodes[0].person(), try await nodes[1].person())
            for index in 0..<10 {
                #expect(try await nodes[index % 2].signIn(alice.name, "wrong").status == 401)
            }
            for node in nodes {
                let refused = try await node.signIn(alice.name, alice.password)
                #expect(refused.status == 429)
                #expect(refused.headers[.retryAfter] == "60")
                #expect(try await node.signIn(bob.name, bob.password).status == 200)
            }
        }
    }

    @Test("Of forty failed sign-ins at once over both nodes, ten are checked")
    func signInsAtOnce() async throws {
        try await withNodes { nodes in
            let alice = try await nodes[0].person()
            let statuses = try await together(40) { try await nodes[$0 % 2].signIn(alice.name, "wrong").status }
            #expect(statuses.filter { $0 == 401 }.count == 10)
            #expect(statuses.filter { $0 == 429 }.count == 30)
            for node in nodes { #expect(try await node.signIn(alice.name, alice.password).status == 429) }
        }
    }

    @Test("A success at one node gives back only its own attempt at the other")
    func successes() async throws {
        try await withNodes { nodes in
            let alice = try await nodes[0].person()
            for index in 0..<9 {
                #expect(try await nodes[index % 2].signIn(alice.name, "wrong").status == 401)
            }
            for node in nodes { #expect(try await node.signIn(alice.name, alice.password).status == 200) }
            #expect(try await nodes[0].signIn(alice.name, "wrong").status == 401)
            for node in nodes { #expect(try await node.signIn(alice.name, alice.password).status == 429) }
        }
    }

    @Test("Twenty registrations spread over both nodes, then each refuses, in turn and at once")
    func registrations() async throws {
        try await withNodes { nodes in
            for index in 0..<20 {
                let node = nodes[index % 2]
                #expect(try await node.register(node.freshName()).status == 201)
            }
            for node in nodes {
                let refused = try await node.register(node.freshName())
                #expect(refused.status == 429)
                #expect(refused.headers[.retryAfter] == "60")
            }
        }
        try await withNodes { nodes in
            let statuses = try await together(40) { index in
                let node = nodes[index % 2]
                return try await node.register(node.freshName()).status
            }
            #expect(statuses.filter { $0 == 201 }.count == 20)
            #expect(statuses.filter { $0 == 429 }.count == 20)
        }
    }
}
