@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let administration: [Scenario<DunbarWorld>] = [
        Scenario("An admin changes anybody, and is shown no address", clause: "PATCH /users/:id") { world in
            let (admin, john) = (try await world.admin(), try await world.person())
            let path = "/users/\(john.id)"
            let changed = try await admin.raw(.patch, path, body: #"{"bio":"by the admin"}"#).succeeded(200)
            try expect(changed["bio"], equals: "by the admin")
            try expect(changed["email"], equals: nil)
            try expect(changed["isAdmin"], equals: nil)
            guard case .other(let user) = try await admin.client.uploadPhoto(.sample, of: john.id) else {
                throw CheckFailure("an admin is shown somebody's account")
            }
            try expect(user.photo != nil, "no photo")
            guard case .own(let own) = try await admin.send(Dunbar.UpdateUser(id: admin.id, bio: "mine")) else {
                throw CheckFailure("an admin's own account is not shown")
            }
            try expect(own.isAdmin, "no admin")
            try await admin.raw(.patch, "/users/999999999999", body: "{}").refused(404, "User not found")
        },
        Scenario("An admin sees and deletes any post", clause: "DELETE /posts/:id") { world in
            let (admin, john) = (try await world.admin(), try await world.person())
            let post = try await john.publish()
            try expect(try await admin.posts(of: john), equals: [post])
            try await admin.send(Dunbar.AddComment(post: post.id, content: "seen"))
            try expect(try await admin.feed(), equals: [])
            try await admin.raw(.delete, "/posts/\(post.id)").said("Post deleted")
            try expect(try await john.posts(of: john), equals: [])
        },
        Scenario("A block hides nothing from an admin, and an admin deletes any comment", clause: "§3, §6 blocks") {
            world in
            let admin = try await world.admin()
            let (john, jane) = (try await world.person(), try await world.person(isPrivate: false))
            try await john.send(Dunbar.Block(user: admin.id))
            let post = try await john.publish()
            try expect(try await admin.posts(of: john), equals: [post])
            try await admin.get("/users/\(john.id)").succeeded(200)
            let comment = try await john.send(
                Dunbar.AddComment(post: try await jane.publish().id, content: "to be deleted"))
            try expect(try await admin.send(Dunbar.ListComments(post: comment.postId)), equals: [comment])
            try await admin.raw(.delete, "/comments/\(comment.id)").said("Comment deleted")
            try await admin.send(Dunbar.ReportPost(post: post.id, reason: .hateful))
            // An admin cannot follow a user who has blocked them.
            try await admin.post("/users/\(john.id)/follow").refused(404, "User not found")
            // Users who have blocked an admin do not see the admin's posts.
            try await admin.send(Dunbar.UpdateUser(id: admin.id, isPrivate: false))
            try await admin.publish()
            try expect(try await john.posts(of: admin), equals: [])
            try expect(try await jane.posts(of: admin).count, equals: 1)
        },
        Scenario("Admins are not found", clause: "GET /users/search") { world in
            let (admin, john) = (try await world.admin(), try await world.person())
            for person in [admin, john] {
                try expect(try await person.send(Dunbar.SearchUsers(admin.name)), equals: [])
            }
            let me = try await world.login(admin.name).succeeded(200)
            try expect(me["user"]?["isAdmin"], equals: true)
        },
        Scenario("An admin has no part in what is between others", clause: "§3") { world, a, b in
            let admin = try await world.admin()
            try await b.send(Dunbar.Follow(user: a.id))
            let request = try await a.request(of: b)
            for action in ["accept", "reject"] {
                try await admin.post("/follow-requests/\(request)/\(action)").refused(404, "Follow request not found")
            }
            try await admin.get("/users/\(a.id)/followers").refused(403, "You can only view your own followers")
            try expect(try await admin.flags(of: a), equals: [false, false])
        },
    ]

    static let verification: [Scenario<DunbarWorld>] = [
        Scenario("The link of an e-mail verifies the address", clause: "GET /verify-email/:token") { world, john in
            guard let `operator` = world.operator else { throw CheckFailure("only an operator sees the e-mails") }
            let emails = try await `operator`.emails("\(john.name)@example.com")
            try expect(emails.count, equals: 1)
            let email = try emails[0]
            guard let found = email.firstMatch(of: #/https?:\/\/\S+\/api\/verify-email\/([A-Za-z0-9_-]{43})\s/#)
            else {
                throw CheckFailure("no link: \(email)")
            }
            let token = String(found.output.1)
            for token in [String(token.dropLast()), token + "x", "x", String(token.reversed())] {
                try await world.raw.send(.get, "/verify-email/\(token)")
                    .refused(400, "Invalid or expired verification token", token)
            }
            try expect(try await john.send(Dunbar.GetCurrentUser()).user.emailVerified, equals: false)
            for _ in 0..<2 {
                try await world.raw.send(.get, "/verify-email/\(token)").said("Email verified")
                try expect(try await john.send(Dunbar.GetCurrentUser()).user.emailVerified, equals: true)
            }
        },
        Scenario("The e-mail with the link is sent again on request", clause: "POST /verify-email/resend") {
            world, john in
            guard let `operator` = world.operator else { throw CheckFailure("only an operator sees the e-mails") }
            try await john.post("/verify-email/resend").said("Verification email sent")
            let emails = try await `operator`.emails("\(john.name)@example.com")
            try expect(emails.count, equals: 2)
            for email in emails {
                guard let link = email.firstMatch(of: #/\/api(\/verify-email\/[A-Za-z0-9_-]{43})\s/#) else {
                    throw CheckFailure("no link: \(email)")
                }
                // Both links verify the address.
                try await world.raw.send(.get, String(link.output.1)).said("Email verified")
            }
            try await john.post("/verify-email/resend").refused(400, "Email already verified")
        },
    ]
}
