@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DunbarClient
import Foundation
import HTTPTypes

/// The table of who sees what, from the decisions, with a request to a running server for each cell.
package struct VisibilityTable: Sendable, CustomStringConvertible {
    package enum Viewer: String, CaseIterable, Sendable {
        case anonymous, stranger, pending, follower, owner, admin
        /// A user whom the owner has blocked.
        case blocked
        /// A user who has blocked the owner.
        case blocker
    }

    /// One row: an object, and the answer that each viewer gets, in their order.
    package struct Row: Sendable, Equatable {
        package var account: String
        package var what: String
        package var cells: [String]
    }

    package var rows: [Row]

    /// The required table. "shown" is 200 with the post, "-" is 200 without it; F and P are `isFollowing` and
    /// `isPending`. When an account becomes public, users with pending requests follow it.
    package static let expected = VisibilityTable(
        rows: ["public", "private"].flatMap { account -> [Row] in
            let isPublic = account == "public"
            func row(_ what: String, _ cells: String...) -> Row { Row(account: account, what: what, cells: cells) }
            let (posts, hidden) = isPublic ? ("shown", "200") : ("-", "404")
            let (added, refused) = isPublic ? ("201", "403") : ("404", "404")
            return [
                row("profile", "200", "200", isPublic ? "200 F" : "200 P", "200 F", "200", "200", "404", "200"),
                row("posts, /users/:id/posts", "401", posts, posts, "shown", "shown", "shown", "-", "-"),
                row("posts, /posts/:id", "401", posts, posts, "shown", "shown", "shown", "-", "-"),
                row("posts, /posts?userId=", "401", posts, posts, "shown", "shown", "shown", "-", "-"),
                row("comments", "401", hidden, hidden, "200", "200", "200", "404", "404"),
                row("add a comment", "401", added, added, "201", "201", "201", "404", "404"),
                row("comments elsewhere", "401", "shown", "shown", "shown", "shown", "shown", "-", "-"),
                row("feed", "401", "-", isPublic ? "shown" : "-", "shown", "shown", "-", "-", "-"),
                row("followers", "401", "403", "403", "403", "200", "403", "403", "403"),
                row("following", "401", "403", "403", "403", "200", "403", "403", "403"),
                row("search", "401", "shown", "shown", "shown", "shown", "shown", "-", "-"),
                row("change the profile", "401", "403", "403", "403", "200", "200", "404", "403"),
                row("report a post", "401", hidden, hidden, "200", "400", "200", "404", "404"),
                row("delete a comment", "401", refused, refused, "403", "200", "200", "404", "404"),
                row("delete a post", "401", refused, refused, "403", "200", "200", "404", "404"),
                row("follow", "401", "200", "400", "400", "400", "200", "404", "400"),
                row("block", "401", "200", "200", "200", "400", "200", "404", "200"),
            ]
        })

    /// Returns the table of a running server.
    package static func observed(in world: DunbarWorld) async throws -> VisibilityTable {
        var rows: [Row] = []
        for account in ["public", "private"] {
            let owner = try await world.person(world.freshName("owner"))
            let (stranger, pending, follower) = try await world.trio()
            let admin = try await world.admin()
            try await follower.follow(owner)
            try await pending.send(Dunbar.Follow(user: owner.id))
            if account == "public" { try await owner.send(Dunbar.UpdateUser(id: owner.id, isPrivate: false)) }
            let post = try await owner.publish("seen by those who may")
            try await owner.send(Dunbar.AddComment(post: post.id, content: "mine"))
            let (blocked, blocker) = try await world.pair()
            try await owner.send(Dunbar.Block(user: blocked.id))
            try await blocker.send(Dunbar.Block(user: owner.id))
            let elsewhere = try await world.person(isPrivate: false).publish()
            let comment = try await owner.send(Dunbar.AddComment(post: elsewhere.id, content: "mine"))
            let viewers = [nil, stranger, pending, follower, owner, admin, blocked, blocker]
            func row(
                _ what: String, _ look: (Person?) async throws -> String
            ) async throws {
                var cells: [String] = []
                for viewer in viewers { cells.append(try await look(viewer)) }
                rows.append(Row(account: account, what: what, cells: cells))
            }
            func send(
                _ viewer: Person?, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
            ) async throws -> RawAnswer {
                guard let viewer else { return try await world.raw.send(method, path, body: body) }
                return try await viewer.raw(method, path, body: body)
            }
            func list(_ viewer: Person?, _ path: String, of id: JSONValue) async throws -> String {
                let answer = try await send(viewer, .get, path)
                guard answer.status == 200 else { return "\(answer.status)" }
                return try answer.json().elements.contains { $0["id"] == id } ? "shown" : "-"
            }
            try await row("profile") { viewer in
                let answer = try await send(viewer, .get, "/users/\(owner.id)")
                let body = try answer.json()
                return "\(answer.status)" + (body["isFollowing"] == true ? " F" : "")
                    + (body["isPending"] == true ? " P" : "")
            }
            for path in ["/users/:id/posts", "/posts/:id", "/posts?userId="] {
                let url = path.replacingOccurrences(of: ":id", with: "\(owner.id)")
                try await row("posts, \(path)") {
                    try await list($0, url.hasSuffix("=") ? "\(url)\(owner.id)" : url, of: post.id.json)
                }
            }
            try await row("comments") { "\(try await send($0, .get, "/posts/\(post.id)/comments").status)" }
            try await row("add a comment") {
                "\(try await send($0, .post, "/posts/\(post.id)/comments", #"{"content":"x"}"#).status)"
            }
            try await row("comments elsewhere") {
                try await list($0, "/posts/\(elsewhere.id)/comments", of: comment.id.json)
            }
            try await row("feed") { try await list($0, "/feed", of: post.id.json) }
            for name in ["followers", "following"] {
                try await row(name) { "\(try await send($0, .get, "/users/\(owner.id)/\(name)").status)" }
            }
            try await row("search") { try await list($0, "/users/search?q=\(owner.name)", of: owner.id.json) }
            try await row("change the profile") {
                "\(try await send($0, .patch, "/users/\(owner.id)", #"{"bio":"x"}"#).status)"
            }
            try await row("report a post") {
                "\(try await send($0, .post, "/posts/\(post.id)/report", #"{"reason":"Hateful"}"#).status)"
            }
            try await row("delete a comment") { viewer in
                let comment = try await owner.send(Dunbar.AddComment(post: post.id, content: "to be deleted"))
                return "\(try await send(viewer, .delete, "/comments/\(comment.id)").status)"
            }
            try await row("delete a post") { viewer in
                let post = try await owner.publish("to be deleted")
                return "\(try await send(viewer, .delete, "/posts/\(post.id)").status)"
            }
            // These come last, because they change the relationships.
            for action in ["follow", "block"] {
                try await row(action) { "\(try await send($0, .post, "/users/\(owner.id)/\(action)").status)" }
            }
        }
        return VisibilityTable(rows: rows)
    }

    /// The table as text.
    package var description: String {
        let header = ["account", "what"] + Viewer.allCases.map(\.rawValue)
        let lines = [header] + rows.map { [$0.account, $0.what] + $0.cells }
        let widths = header.indices.map { column in lines.map { $0.dropFirst(column).first?.count ?? 0 }.max() ?? 0 }
        return lines.map { line in
            zip(line, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension DunbarScenarios {
    static let visibility: [Scenario<DunbarWorld>] = [
        Scenario("Everybody sees what the table says, in every cell", clause: "§3") { world in
            let (observed, expected) = (try await VisibilityTable.observed(in: world), VisibilityTable.expected)
            try expect(observed.rows.count, equals: expected.rows.count)
            for (found, wanted) in zip(observed.rows, expected.rows) {
                try expect(
                    found == wanted, "\(wanted.account), \(wanted.what): \(found.cells), expected \(wanted.cells)")
            }
        }
    ]
}
