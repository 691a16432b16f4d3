@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

/// Scenarios of rules for every request: the order of checks, sessions, bodies.
extension DunbarScenarios {
    static let rules = RequestRules<DunbarWorld>(
        unknownPaths: ["/", "//user", "/users/search/x/y"],
        noCredentials: "Unauthorized", badCredentials: { _ in ["Unauthorized": ["dunbar.session=x"]] },
        empty: .init("/posts") { try $0.refused(400, "Post must have content or media", $1) },
        whole: .init("/posts", #"{"content":"x"}"#) { try $0.succeeded(201, $1) })

    static let errors: [Scenario<DunbarWorld>] = [
        rules.unknownPaths(clause: "§1 order of checks"),
        rules.otherMethods("Another method is 405 with Allow, before sessions and ids", clause: "§1 order of checks"),
        rules.credentials("The session comes before keys, bodies and ids", clause: "§1 order of checks"),
        rules.bodies(clause: "§1 JSON bodies"), rules.plainBodies(clause: "§1 JSON bodies"),
        Scenario("Unknown keys are ignored and never stored", clause: "§1 unknown keys") { world in
            let name = world.freshName()
            let body = """
                {"username":"\(name)","email":"\(name)@example.com","password":"12345678","displayName":"N","id":1,
                 "isAdmin":true,"role":"admin","emailVerified":true,"isPrivate":false,"bio":"x","createdAt":"2001-01-01"}
                """
            let answer = try await world.raw.send(.post, "/register", body: body)
            let user = try answer.succeeded(201)["user"]
            try expect(user?["isAdmin"], equals: false)
            try expect(user?["isPrivate"], equals: true)
            try expect(user?["bio"], equals: .null)
            guard let cookie = answer.cookie else { throw CheckFailure("no cookie") }
            let post = try await world.raw.send(
                .post, "/posts", headers: [.cookie: cookie],
                body:
                    #"{"content":"x","id":1,"userId":1,"media":["http://x/y.jpg"],"createdAt":"2001-01-01T00:00:00Z"}"#
            ).succeeded(201)
            try expect(post["userId"], equals: user?["id"] ?? .null)
            try expect(post["media"], equals: [])
            try expect(post["createdAt"]?.string?.hasPrefix("2001") == false, "\(post)")
        },
        rules.oddInput("Bad input is never a 5xx, and every answer is JSON", clause: "§1") { world in
            let john = try await world.person()
            let post = try await john.publish()
            let long = String(repeating: "9", count: 400)
            let paths = [
                "/users/\(long)", "/users/%ff%fe", "/users/..%2f..%2fetc", "/users/'%20OR%201=1/posts",
                "/posts?userId=%00",
                "/posts?userId=\(long)", "/feed?before=\(long)", "/feed?limit=\(long)", "/posts/\(long)/comments",
                "/posts/\(post.id)/comments?before=\(long)", "/users/search?q=%00", "/users/search?q=%ff",
                "/users/search?q=\(long)", "/users/\(john.id)/followers?before=\(long)", "/verify-email/%00",
                "/verify-email/\(long)", "/follow-requests/pending?before=\(long)", "/blocks?before=\(long)",
            ]
            return (
                john.raw, paths,
                [
                    (.post, "/login", #"{"username":?,"password":?}"#),
                    (.post, "/register", #"{"username":?,"email":?,"password":?,"name":?}"#),
                    (.patch, "/users/\(john.id)", #"{"displayName":?,"bio":?,"isPrivate":?}"#),
                    (.post, "/posts", #"{"content":?}"#),
                    (.post, "/posts/\(post.id)/comments", #"{"content":?}"#),
                    (.post, "/posts/\(post.id)/report", #"{"reason":?,"details":?}"#),
                    (.post, "/forgot-password", #"{"email":?}"#),
                    (.post, "/reset-password", #"{"token":?,"newPassword":?}"#),
                ]
            )
        },
    ]
}
