@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let accounts: [Scenario<DunbarWorld>] = [
        Scenario("A forgotten password is answered alike for every address", clause: "POST /forgot-password") {
            world, john in
            let address = "\(john.name)@example.com"
            for body in [
                #"{"email":"\#(address)"}"#, #"{"email":" \#(address.uppercased()) "}"#,
                #"{"email":"\#(world.freshName())@example.com"}"#, #"{"email":"none"}"#, #"{"email":""}"#,
                #"{"email":5}"#, #"{"email":null}"#, "{}", "",
                #"{"email":"\#(String(repeating: "x", count: 100_000))@example.com"}"#,
            ] {
                let answer = try await world.raw.send(.post, "/forgot-password", body: body)
                try answer.said(instructions, "\(body.prefix(60))")
                try expect(answer.headers[.setCookie], equals: nil)
            }
            try await world.raw.send(.post, "/forgot-password", body: "{").refused(400, "Malformed JSON")
            // A request alone changes nothing.
            try await world.login(john.name).succeeded(200)
            try await john.get("/user").succeeded(200)
        },
        Scenario("A wrong token sets no password", clause: "POST /reset-password") { world in
            let token = String(repeating: "A", count: 43)
            for body in [
                "{}", #"{"token":""}"#, #"{"token":5,"newPassword":"12345678"}"#, #"{"newPassword":"12345678"}"#,
                #"{"token":"\#(token)","newPassword":"12345678"}"#, #"{"token":"\#(token)","newPassword":"x"}"#,
                #"{"token":"a\u0000","newPassword":"12345678"}"#,
            ] {
                try await world.raw.send(.post, "/reset-password", body: body)
                    .refused(400, "Invalid or expired reset token", body)
            }
        },
        Scenario("Another address needs the password, and one that is free", clause: "POST /account/email") {
            world, john, jane in
            let (password, free) = (JSONValue.string(DunbarWorld.password), "\(world.freshName())@example.org")
            let table: [(email: JSONValue, password: JSONValue, text: String)] = [
                (nil, password, "Invalid email address"), ("nobody", password, "Invalid email address"),
                (5, password, "Invalid email address"), (.string(free), nil, "Password is required"),
                (.string(free), "", "Password is required"), (.string(free), "wrong", "Invalid password"),
                (.string("\(jane.name)@EXAMPLE.com"), password, "Email already exists"),
            ]
            for (email, password, text) in table {
                try await john.post("/account/email", ["email": email, "password": password])
                    .refused(400, text, "\(email)")
            }
            try await world.raw.send(.post, "/account/email", body: "{").refused(401, "Unauthorized")
            try await john.post("/account/email", ["email": .string(free), "password": password])
                .said("Verification email sent")
            // The present address counts until the new one is verified.
            try expect(try await john.send(Dunbar.GetCurrentUser()).user.email, equals: "\(john.name)@example.com")
        },
        Scenario("An account is deleted with all that is theirs", clause: "POST /account/delete") {
            world, john, jane, alex in
            for person in [john, jane] { try await person.send(Dunbar.UpdateUser(id: person.id, isPrivate: false)) }
            try await jane.follow(john)
            try await john.follow(jane)
            try await john.send(Dunbar.Follow(user: alex.id))
            try await john.send(Dunbar.Block(user: try await world.person().id))
            let photo = try await john.client.uploadPhoto(.sample, of: john.id).profile.photo ?? ""
            let post = try await john.client.post("with a picture", media: [.sample, .video(Samples.mp4)])
            try await jane.send(Dunbar.AddComment(post: post.id, content: "on what goes"))
            try await jane.send(Dunbar.ReportPost(post: post.id, reason: .hateful))
            let kept = try await jane.publish()
            let comment = try await jane.send(Dunbar.AddComment(post: kept.id, content: "stays"))
            try await john.send(Dunbar.AddComment(post: kept.id, content: "goes"))
            try await john.send(Dunbar.ReportPost(post: kept.id, reason: .hateful))
            let elsewhere = try await world.login(john.name).cookie ?? ""

            let path = "/account/delete"
            try await world.raw.send(.post, path, body: "{").refused(401, "Unauthorized")
            for body in ["{}", #"{"password":""}"#, #"{"password":5}"#] {
                try await john.raw(.post, path, body: body).refused(400, "Password is required", body)
            }
            try await john.post(path, ["password": "wrong"]).refused(400, "Invalid password")
            try await john.get("/user").succeeded(200)
            let answer = try await john.post(path, ["password": .string(DunbarWorld.password)])
            try answer.said("Account deleted successfully")
            try expect(try attributes(of: answer).contains("Max-Age=0"), "the cookie stays")

            for cookie in [john.cookie, elsewhere] {
                try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).refused(401, "Unauthorized")
            }
            try await john.post(path, ["password": .string(DunbarWorld.password)]).refused(401, "Unauthorized")
            try await world.login(john.name).refused(401, "Invalid username or password")
            try await world.raw.send(.get, "/users/\(john.id)").refused(404, "User not found")
            for url in post.media + [photo] { try expect(try await world.fetch(url).status, equals: 404) }
            try expect(try await jane.feed(), equals: [kept])
            try expect(try await jane.posts(of: john), equals: [])
            try expect(try await jane.send(Dunbar.ListComments(post: kept.id)), equals: [comment])
            try await jane.get("/posts/\(post.id)/comments").refused(404, "Post not found")
            try expect(try await jane.send(Dunbar.ListFollowers(of: jane.id)), equals: [])
            try expect(try await jane.send(Dunbar.ListFollowing(of: jane.id)), equals: [])
            try expect(try await alex.send(Dunbar.ListPendingRequests()), equals: [])
            try expect(try await jane.send(Dunbar.SearchUsers(john.name)), equals: [])
            // The username and the address are available again.
            let again = try await world.person(john.name)
            try expect(again.id != john.id, "the same id again")
            try expect(try await again.feed(), equals: [])
            try await again.client.deleteAccount(password: DunbarWorld.password)
            try expect(try await again.client.currentUser(), equals: nil)
        },
        Scenario("An account that is deleted while it is busy leaves nothing", clause: "§6 POST /account/delete") {
            world in
            for _ in 0..<3 {
                let jane = try await world.person(isPrivate: false)
                let john = try await world.person(isPrivate: false)
                let post = try await jane.publish()
                let answers = try await together(16) { index -> RawAnswer in
                    let key = world.freshKey()
                    switch index % 8 {
                    case 0:
                        guard index == 8 else { return try await john.get("/feed") }
                        return try await john.post("/account/delete", ["password": .string(DunbarWorld.password)])
                    case 1, 2:
                        var headers = key
                        headers[.contentType] = Form.type
                        let form = Form(
                            fields: [("content", "x")], files: [("media", "x.jpg", "image/jpeg", Samples.jpeg)])
                        return try await john.raw(.post, "/posts", headers: headers, bytes: form.bytes)
                    case 3:
                        let form = Form(files: [("photo", "x.jpg", "image/jpeg", Samples.jpeg)])
                        return try await john.raw(
                            .post, "/users/\(john.id)/photo", headers: [.contentType: Form.type], bytes: form.bytes)
                    case 4: return try await john.post("/posts/\(post.id)/comments", ["content": "x"], headers: key)
                    case 5:
                        return index < 8
                            ? try await john.post("/users/\(jane.id)/follow")
                            : try await jane.post("/users/\(john.id)/follow")
                    case 6: return try await world.login(john.name)
                    default:
                        return index < 8
                            ? try await john.post("/posts/\(post.id)/report", ["reason": "Hateful"])
                            : try await jane.post("/users/\(john.id)/block")
                    }
                }
                try expect(answers.allSatisfy { $0.status < 500 }, "\(answers.map(\.text))")
                try answers[8].said("Account deleted successfully")
                try await world.raw.send(.get, "/users/\(john.id)").refused(404, "User not found")
                for answer in answers {
                    let body = try answer.json()
                    let photo = body["photo"]?.string
                    for url in (body["media"]?.elements.compactMap(\.string) ?? []) + [photo].compactMap({ $0 }) {
                        try expect(try await world.fetch(url).status, equals: 404)
                    }
                    guard let cookie = answer.cookie else { continue }
                    try await world.raw.send(.get, "/feed", headers: [.cookie: cookie]).refused(401, "Unauthorized")
                }
                try expect(try await jane.send(Dunbar.ListComments(post: post.id)), equals: [])
                for list in ["/users/\(jane.id)/followers", "/users/\(jane.id)/following", "/blocks"] {
                    try expect(try await jane.get(list).succeeded(200), equals: [])
                }
            }
        },
    ]

    /// Scenarios that need the e-mails.
    static let recovery: [Scenario<DunbarWorld>] = [
        Scenario("The link of an e-mail gives an account its new address, once", clause: "POST /account/email") {
            world, john, jane in
            let (old, new) = ("\(john.name)@example.com", "\(world.freshName())@Example.org")
            try await john.send(Dunbar.ForgotPassword(email: old))
            let reset = try await world.resetCode(of: john)
            let before = try await world.emails(to: old).count
            try await john.send(
                Dunbar.ChangeEmail(email: "\(world.freshName())@example.org", password: DunbarWorld.password))
            try await john.send(Dunbar.ChangeEmail(email: " \(new)", password: DunbarWorld.password))
            let link = try await world.link(to: new)
            // The present address is notified of each request, without the link.
            let told = try await world.emails(to: old)
            try expect(told.count, equals: before + 2)
            try expect(!told.contains { $0.contains(link) }, "the old address receives the link")
            try expect(try await john.send(Dunbar.GetCurrentUser()).user.email, equals: old)
            try await world.raw.send(.get, link).said("Email verified")
            let user = try await john.send(Dunbar.GetCurrentUser()).user
            try expect(user.email, equals: new)
            try expect(user.emailVerified, equals: true)
            try await world.raw.send(.get, link).refused(400, "Invalid or expired verification token")
            // A code that was sent to the former address is no longer accepted.
            try await world.raw.send(
                .post, "/reset-password", body: #"{"token":"\#(reset)","newPassword":"another one"}"#
            ).refused(400, "Invalid or expired reset token")
            try await world.login(john.name).succeeded(200)
            try await world.register(world.freshName(), email: old).succeeded(201)
            try await jane.post("/account/email", ["email": .string(new), "password": .string(DunbarWorld.password)])
                .refused(400, "Email already exists")
        },
        Scenario("A new password ends the links to other addresses", clause: "POST /account/email") { world, john in
            let new = "\(world.freshName())@example.org"
            try await john.send(Dunbar.ChangeEmail(email: new, password: DunbarWorld.password))
            let link = try await world.link(to: new)
            try await john.client.changePassword(from: DunbarWorld.password, to: "another one")
            try await world.raw.send(.get, link).refused(400, "Invalid or expired verification token")
        },
        Scenario("Of two who ask for one address, the first to verify it gets it", clause: "POST /account/email") {
            world, john, jane in
            let address = "\(world.freshName())@example.org"
            var found: [String] = []
            for person in [john, jane] {
                try await person.send(Dunbar.ChangeEmail(email: address, password: DunbarWorld.password))
                found.append(try await world.link(to: address, besides: found))
            }
            let links = found
            let answers = try await together(2) { try await world.raw.send(.get, try links[$0]) }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 { try answer.refused(400, "Email already exists") }
        },
        Scenario("The code of an e-mail sets a new password, once", clause: "POST /reset-password") { world, john in
            let elsewhere = try await world.login(john.name).cookie ?? ""
            let address = "\(john.name)@example.com"
            // The e-mail goes to the registered address, whatever case is typed.
            try await world.raw.send(.post, "/forgot-password", body: #"{"email":" \#(address.uppercased())"}"#)
                .said(instructions)
            let code = try await world.resetCode(of: john)
            func reset(_ code: String, _ password: JSONValue) async throws -> RawAnswer {
                let body: JSONValue = ["token": .string(code), "newPassword": password]
                return try await world.raw.send(.post, "/reset-password", body: body.description)
            }
            for code in [String(code.dropLast()), code + "x", code.lowercased() + "A"] {
                try await reset(code, "new password").refused(400, "Invalid or expired reset token")
            }
            // An invalid password does not use the token up.
            for (password, text) in [
                ("", "Password must be at least 8 characters"), (5, "Password must be at least 8 characters"),
                (.string(String(repeating: "x", count: 201)), "Password must be at most 200 characters"),
                ("12345678\u{0}", "Text must not contain NUL characters"),
            ] as [(JSONValue, String)] { try await reset(code, password).refused(400, text) }
            try await john.get("/user").succeeded(200)
            try await reset(code, "new password").said("Password has been reset")
            for cookie in [john.cookie, elsewhere] {
                try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).refused(401, "Unauthorized")
            }
            try await world.login(john.name).refused(401, "Invalid username or password")
            try await world.login(john.name, "new password").succeeded(200)
            try await reset(code, "another one").refused(400, "Invalid or expired reset token")
            try await world.login(john.name, "new password").succeeded(200)
        },
        Scenario("Of two resets with one code at once, one succeeds", clause: "POST /reset-password") { world, john in
            try await john.send(Dunbar.ForgotPassword(email: "\(john.name)@example.com"))
            let code = try await world.resetCode(of: john)
            let answers = try await together(8) { index in
                try await world.raw.send(
                    .post, "/reset-password", body: #"{"token":"\#(code)","newPassword":"password \#(index)"}"#)
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for (index, answer) in answers.enumerated() {
                let login = try await world.login(john.name, "password \(index)")
                if answer.status == 200 {
                    try login.succeeded(200)
                } else {
                    try answer.refused(400, "Invalid or expired reset token")
                    try login.refused(401, "Invalid username or password")
                }
            }
        },
        Scenario("No session of the old password outlasts a reset", clause: "POST /reset-password") { world in
            for _ in 0..<3 {
                let (name, key) = (world.freshName(), world.freshKey())
                let registered = try await world.register(name, headers: key)
                try registered.succeeded(201)
                try await world.raw.send(.post, "/forgot-password", body: #"{"email":"\#(name)@example.com"}"#)
                    .said(instructions)
                let code = try await world.resetCode(of: name)
                let answers = try await together(9) { index in
                    switch index {
                    case 4:
                        try await world.raw.send(
                            .post, "/reset-password", body: #"{"token":"\#(code)","newPassword":"new password"}"#)
                    case 6: try await world.register(name, headers: key)
                    default: try await world.login(name)
                    }
                }
                try answers[4].said("Password has been reset")
                for cookie in (answers + [registered]).compactMap(\.cookie) {
                    try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).refused(401, "Unauthorized")
                }
                // A repeated registration signs in, too.
                try await world.register(name, headers: key).refused(401, "Unauthorized")
            }
        },
        Scenario("A later e-mail's code does not undo an earlier one's", clause: "POST /reset-password") {
            world, john in
            var sent: [String] = []
            for _ in 0..<2 {
                try await john.send(Dunbar.ForgotPassword(email: "\(john.name)@example.com"))
                sent.append(try await world.resetCode(of: john))
            }
            let codes = sent
            try expect(codes[0] != codes[1], "the same code again")
            try await john.send(Dunbar.ResetPassword(token: codes[0], newPassword: "new password"))
            // Tokens of earlier e-mails are no longer valid.
            try await world.raw.send(
                .post, "/reset-password", body: #"{"token":"\#(codes[1])","newPassword":"another one"}"#
            ).refused(400, "Invalid or expired reset token")
        },
        Scenario("A changed password ends the codes of e-mails", clause: "POST /account/password") { world, john in
            try await john.send(Dunbar.ForgotPassword(email: "\(john.name)@example.com"))
            let code = try await world.resetCode(of: john)
            try await john.client.changePassword(from: DunbarWorld.password, to: "another one")
            try await world.raw.send(
                .post, "/reset-password", body: #"{"token":"\#(code)","newPassword":"a third one"}"#
            ).refused(400, "Invalid or expired reset token")
            try await world.login(john.name, "another one").succeeded(200)
        },
        Scenario("An admin's account is not deleted so", clause: "POST /account/delete") { world in
            let admin = try await world.admin()
            try await admin.post("/account/delete", ["password": "wrong"]).refused(400, "Invalid password")
            try await admin.post("/account/delete", ["password": .string(DunbarWorld.password)])
                .refused(400, "Cannot delete admin account through this endpoint")
            try await admin.get("/user").succeeded(200)
        },
    ]

    private static let instructions =
        "If an account exists with this email, you will receive password reset instructions."
}

extension DunbarWorld {
    /// Returns the path in the one e-mail whose link is not known yet.
    fileprivate func link(to address: String, besides known: [String] = []) async throws -> String {
        let links = try await emails(to: address).compactMap { email in
            email.firstMatch(of: #/\/api(\/verify-email\/[A-Za-z0-9_-]{43})\s/#).map { String($0.output.1) }
        }.filter { !known.contains($0) }
        guard let link = links.first, links.count == 1 else { throw CheckFailure("\(links.count) new links") }
        return link
    }

    fileprivate func resetCode(of person: Person) async throws -> String { try await resetCode(of: person.name) }

    /// Returns the token of the newest e-mail.
    fileprivate func resetCode(of name: String) async throws -> String {
        // E-mails that were sent at the same time come in any order.
        guard let code = try await codes(at: "\(name)@example.com").last else { throw CheckFailure("no code") }
        return code
    }
}
