import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

@testable import Backend

/// The promises of the API of the operator's page, as something to try on a server.
enum OperatorScenarios {
    static let all = sessions + overview + people + moderation + tokens + reports + log

    private static let stranger = "Sign in with a link: run 'concord operator link'"
    private static let moderator = "Your link gives the role moderate, and this needs the role all"

    // MARK: Sessions

    private static let sessions: [Scenario<OperatorWorld>] = [
        Scenario("A link signs in once", clause: "POST /sign-in") { world in
            let token = world.host.link(.moderate, for: "operator anna")
            let answer = try await world.post("/sign-in", ["token": .string(token)])
            let session = try answer.succeeded(200)
            try expect(
                session.without("expires_at"),
                equals: [
                    "name": "operator anna", "role": "moderate", "version": "1.2.3",
                    "apis": [
                        [
                            "name": "messenger", "title": "Messenger", "has_passwords": true, "has_reports": true,
                            "has_tokens": false,
                        ],
                        [
                            "name": "monica", "title": "Monica", "has_passwords": false, "has_reports": false,
                            "has_tokens": true,
                        ],
                    ],
                ])
            try session["expires_at"]?.isTime(ahead: 12 * 3600)
            try expect(answer.headers[.setCookie]?.contains("HttpOnly; SameSite=Strict") == true, "the cookie is open")
            let words = "This link was used, or is older than 15 minutes: run 'concord operator link' again"
            try await world.post("/sign-in", ["token": .string(token)]).refused(401, words)
            let cookie = (answer.headers[.setCookie] ?? "").prefix { $0 != ";" }
            let known = try await world.raw.signed([.cookie: String(cookie)])(.get, "/session").succeeded(200)
            try expect(known, equals: session)
        },
        Scenario("After the end of a session nothing is shown or done", clause: "POST /sign-out") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let report = try await world.report(of: bob, by: alice)
            let anna = try await world.signedIn()
            let shown = [
                "/session", "/overview", "/problems", "/audit", "/people?text=\(bob.name)", bob.path,
                "\(bob.path)/export?reason=a", "/tokens/monica?account=alice", "/reports", report, "\(report)/files/1",
                "/log",
            ]
            for path in shown { try await anna(.get, path).expect(200..<201, path) }
            try expect(try await anna(.post, "/sign-out").status, equals: 204)
            for path in shown { try await anna(.get, path).refused(401, stranger, path) }
            for path in shown { try await world.get(path).refused(401, stranger, path) }
            let steps = ["sign-out", "reset-code", "suspend", "restore", "remove-content", "delete"]
            let done =
                ["/sign-out", "/backups", "/test-email", "/tokens/monica", "/tokens/monica/1/revoke"]
                + steps.map { "\(bob.path)/\($0)" } + ["act", "dismiss", "notes"].map { "\(report)/\($0)" }
            for path in done { try await world.post(path).refused(401, stranger, path) }
        },
        Scenario("A moderator may not do everything", clause: "Roles") { world in
            let (ben, bob) = (try await world.signedIn(.moderate), try await world.person())
            for path in ["/problems", "/audit", "/log", "\(bob.path)/export?reason=a", "/tokens/monica?account=a"] {
                try await ben(.get, path).refused(403, moderator, path)
            }
            let token: JSONValue = ["account": "a", "name": "a"]
            for (path, body) in [
                ("\(bob.path)/delete", ["reason": "a"]), ("/backups", [:]), ("/tokens/monica", token),
                ("/test-email", ["address": "a@example.com"]), ("/tokens/monica/1/revoke", [:]),
            ] as [(String, JSONValue)] { try await ben(.post, path, body).refused(403, moderator, path) }
            for path in ["/overview", "/people?text=\(bob.name)", bob.path, "/reports"] {
                try await ben(.get, path).succeeded(200, path)
            }
            try await bob.isIn()
        },
    ]

    // MARK: The overview

    private static let overview: [Scenario<OperatorWorld>] = [
        Scenario("The overview has the state of each API", clause: "GET /overview") { world in
            let anna = try await world.signedIn()
            let found = try await anna(.get, "/overview").succeeded(200)
            let apis = found["apis"]?.elements ?? []
            try expect(apis.map { $0["name"] ?? .null }, equals: ["messenger", "monica"])
            let quiet: JSONValue = ["requests": 0, "errors": 0]
            // All took 2 ms, which is in the bucket from 1 to 2.5 ms.
            let busy: JSONValue = ["requests": 101, "errors": 1, "p95": 2.43]
            let common: JSONValue = [
                "unavailable": [], "ready": true, "sockets": 0, "emails_waiting": 0, "emails_failed": 0,
                "pushes_waiting": 0, "pushes_failed": 0,
            ]
            for (api, more) in zip(
                apis,
                [
                    ["name": "messenger", "title": "Messenger", "url": "https://messenger.example"],
                    ["name": "monica", "title": "Monica", "url": "https://monica.example/api"],
                ] as [JSONValue])
            {
                let isBusy = more["name"] == "messenger"
                let traffic: [String: JSONValue] = [
                    "hour": isBusy ? busy : quiet, "minutes": [isBusy ? busy : quiet, quiet],
                ]
                let expected = common.members.merging(more.members) { $1 }.merging(traffic) { $1 }
                try expect(api.without("reports_open", "oldest_report_at"), equals: .object(expected))
            }
            try expect(found["minutes"], equals: [busy, quiet])
            try expect(found["warnings"], equals: .integer(Int64(world.host.warnings)))
            let disk = try FileManager.default.attributesOfFileSystem(forPath: world.host.folder)
            try expect(found["disk"]?["size"]?.integer, equals: (disk[.systemSize] as? NSNumber)?.int64Value)
            try expect(
                found["disk"]?["reserve"]?.integer, equals: try world.host.reserve())
            try expect(
                found["backup"]?.without("newest_at", "size", "running", "done", "total"),
                equals: ["place": .string(world.host.backups)])
        },
        Scenario("A report is in the overview until it is closed", clause: "GET /overview") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let report = try await world.report(of: bob, by: alice)
            let anna = try await world.signedIn()
            let state = try await anna(.get, "/overview").succeeded(200)["apis"]?.elements.first
            try expect((state?["reports_open"]?.integer ?? 0) > 0, "no report is open")
            try expect(state?["oldest_report_at"]?.string != nil, "no report has a time")
            try await anna(.post, "\(report)/dismiss", [:]).succeeded(200)
        },
        Scenario("The problems of the settings are sentences", clause: "GET /problems") { world in
            let found = try await world.signedIn()(.get, "/problems").succeeded(200).elements.compactMap(\.string)
            try expect(found.count, equals: 2)
            try expect(found.first?.hasPrefix("The public URLs of messenger, monica are https") == true, "\(found)")
            try expect(found.first?.hasSuffix("Set --trusted-proxy to the proxy's address") == true, "\(found)")
            try expect(found.last?.hasPrefix("Port ") == true, "\(found)")
        },
        Scenario("The audit has who did what to whom, and why", clause: "GET /audit") { world in
            let (name, bob) = (world.freshName("operator "), try await world.person())
            let anna = try await world.signedIn(.all, as: name)
            func own() async throws -> [JSONValue] {
                try await anna(.get, "/audit?last=1000").succeeded(200).elements.filter { $0["actor"]?.string == name }
            }
            try expect(try await own().count, equals: 0)
            try await anna(.post, "\(bob.path)/suspend", ["reason": "spam"]).succeeded(200)
            try await anna(.post, "\(bob.path)/restore", ["reason": "a mistake"]).succeeded(200)
            let found = try await own()
            try expect(
                found.map { $0.without("id", "time") },
                equals: [
                    ["people suspend", "user \(bob.id): spam"], ["people restore", "user \(bob.id): a mistake"],
                ].map {
                    [
                        "api": "messenger", "actor": .string(name), "action": .string($0[0]), "subject": .string($0[1]),
                    ]
                })
            for entry in found { try entry["time"]?.isTime() }
            let ids = found.compactMap { $0["id"]?.integer }
            try expect(try await world.host.auditIDs(of: name), equals: ids)
            try expect(try await anna(.get, "/audit?last=1").succeeded(200).elements.count, equals: 1)
            for last in ["0", "1001"] {
                try await anna(.get, "/audit?last=\(last)").refused(400, "last must be 1 to 1000")
            }
        },
        Scenario("A backup is made at the server's own place", clause: "POST /backups") { world in
            let name = world.freshName("operator ")
            let anna = try await world.signedIn(.all, as: name)
            var (made, begun): (String?, Int) = (nil, 0)
            try await expectSoon("no backup is made") {
                let entries = try await anna(.get, "/audit?last=1000").succeeded(200).elements
                made = entries.first { $0["actor"]?.string == name }?["subject"]?.string
                if made != nil { return true }
                // Another scenario may have begun one, and within a second there is one.
                let answer = try await anna(.post, "/backups", [:])
                if answer.status == 409 {
                    try answer.refused(409, "A backup is being made")
                } else {
                    try expect(answer.status, equals: 202)
                    try expect(answer.text, equals: "")
                    begun += 1
                    try expect(begun < 50, "no backup is made")
                }
                return false
            }
            let parts = (made ?? "").split(separator: " to ")
            try expect(parts.last.map(String.init), equals: world.host.backups)
            try expect(try world.host.backupNames().contains(String(parts.first ?? "")), "\(made ?? "") is not there")
            try await expectSoon("the backup goes on") {
                let isRunning = await world.host.isMakingBackup
                let backup = try await anna(.get, "/overview").succeeded(200)["backup"]
                // Other scenarios begin and end backups, too.
                guard await world.host.isMakingBackup == isRunning else { return false }
                try expect(backup?["running"], equals: .bool(isRunning))
                return !isRunning && backup?["newest_at"] != nil && backup?["done"] == backup?["total"]
            }
        },
        Scenario("A test e-mail is sent, or it is said why not", clause: "POST /test-email") { world in
            let anna = try await world.signedIn()
            let sent = try await anna(.post, "/test-email", ["address": "anna@example.com"]).succeeded(200)
            try expect(sent, equals: ["text": "The mail server has taken the e-mail to anna@example.com"])
            try await anna(.post, "/test-email", ["address": "a@refused.example"])
                .refused(409, "This server has no mail server")
            for address in ["", "anna", "a\r\nb@example.com"] {
                try await anna(.post, "/test-email", ["address": .string(address)])
                    .refused(400, "The address is not an e-mail address")
            }
        },
    ]

    // MARK: People

    private static let people: [Scenario<OperatorWorld>] = [
        Scenario("People are found in all APIs", clause: "GET /people") { world in
            let (stem, anna) = (world.freshName(), try await world.signedIn())
            let (one, two) = (try await world.person("\(stem)a"), try await world.person("\(stem)b"))
            func find(_ query: String) async throws -> [JSONValue] {
                try await anna(.get, "/people?\(query)").succeeded(200).elements
            }
            let found = try await find("text=\(stem.uppercased())")
            try expect(
                found.map { $0.without("created_at") },
                equals: [one, two].map { $0.with(["email": .string("\($0.name)@example.com")]) })
            for person in found { try person["created_at"]?.isTime() }
            try expect(try await find("text=\(one.id)").contains { $0["name"]?.string == one.name }, "not by the id")
            try expect(try await find("text=\(one.name)@example.com").count, equals: 1)
            try expect(try await find("text=\(stem)&limit=1").count, equals: 1)
            try expect(try await find("text=\(stem)&api=monica").count, equals: 0)
            try expect(try await find("text=\(stem)&api=messenger").count, equals: 2)
            try expect(try await find("text=\(stem)c").count, equals: 0)
            try await anna(.get, "/people?text=%20").refused(400, "The text to look for is empty")
            try await anna(.get, "/people?text=a&limit=1001").refused(400, "limit must be 1 to 1000")
            try await anna(.post, "\(one.path)/delete", ["reason": "asked"]).succeeded(200)
            try expect(try await find("text=\(stem)").count, equals: 1)
        },
        Scenario("A person's card has all that is known", clause: "GET /people/{api}/{id}") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let name = world.freshName("operator ")
            let anna = try await world.signedIn(.all, as: name)
            _ = try await world.report(of: bob, by: alice)
            let before = try await anna(.get, bob.path).succeeded(200)
            try expect(before["acts"], equals: [])
            try await anna(.post, "\(bob.path)/suspend", ["reason": "spam"]).succeeded(200)
            try await anna(.post, "\(bob.path)/restore", ["reason": "a mistake"]).succeeded(200)
            let shown = try await anna(.get, bob.path).succeeded(200)
            try expect(
                shown.without("created_at", "last_seen_at", "sessions", "acts", "storage_bytes"),
                equals: bob.with([
                    "email": .string("\(bob.name)@example.com"), "failed_sign_ins": 0,
                    "reports": ["by": 0, "about": 1],
                ]))
            for member in ["created_at", "last_seen_at"] { try shown[member]?.isTime() }
            let session = shown["sessions"]?.elements.first
            try expect(shown["sessions"]?.elements.count, equals: 1)
            try expect(session?["device"], equals: "Bob's iPhone")
            for member in ["started_at", "used_at"] { try session?[member]?.isTime() }
            try expect(
                shown["acts"]?.elements.map { $0.without("time") },
                equals: [
                    ["people restore", "user \(bob.id): a mistake"], ["people suspend", "user \(bob.id): spam"],
                ].map { ["actor": .string(name), "action": .string($0[0]), "subject": .string($0[1])] })
            for act in shown["acts"]?.elements ?? [] { try act["time"]?.isTime() }
            try await anna(.get, "/people/messenger/999999999")
                .refused(409, "There is no person 999999999 in Messenger")
            try await anna(.get, "/people/nowhere/1").refused(404, "There is no API 'nowhere'")
        },
        Scenario("All sessions of a person end", clause: "POST /people/{api}/{id}/sign-out") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            try await anna(.post, "\(bob.path)/sign-out", ["reason": " "]).refused(400, "The reason is empty")
            try await bob.isIn()
            let done = try await anna(.post, "\(bob.path)/sign-out", ["reason": "a lost phone"]).succeeded(200)
            try expect(done, equals: bob.with(["sessions": 1]))
            let shown = try await anna(.get, bob.path).succeeded(200)
            try expect(shown["sessions"], equals: [])
            try expect(shown["acts"]?.elements.first?["subject"], equals: .string("user \(bob.id): a lost phone"))
        },
        Scenario("A code sets a new password", clause: "POST /people/{api}/{id}/reset-code") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            let made = try await anna(.post, "\(bob.path)/reset-code", [:]).succeeded(200)
            try expect(made.without("code", "expires_at"), equals: bob.with([:]))
            try made["expires_at"]?.isTime(ahead: 15 * 60)
            let code = made["code"]?.string ?? ""
            try await bob.client.send(Messenger.ResetPassword(token: code, newPassword: "another-secret"))
            try await bob.client.signIn(username: bob.name, password: "another-secret")
            let sent = try await anna(.post, "\(bob.path)/reset-code", ["send": true]).succeeded(200)
            try expect(sent.without("expires_at"), equals: bob.with(["email": .string("\(bob.name)@example.com")]))
            try await anna(.post, "\(bob.path)/suspend", ["reason": "spam"]).succeeded(200)
            try await anna(.post, "\(bob.path)/reset-code", [:]).refused(
                409, "\(bob.id) is suspended: a password cannot be reset until it is restored")
        },
        Scenario("A suspension holds until a time", clause: "POST /people/{api}/{id}/suspend") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            try await anna(.post, "\(bob.path)/suspend", ["reason": "\n"]).refused(400, "The reason is empty")
            let until: JSONValue = "2099-01-01T00:00:00Z"
            let done = try await anna(.post, "\(bob.path)/suspend", ["reason": "spam", "until": until]).succeeded(200)
            try expect(done.without("suspension"), equals: bob.with([:]))
            try expect(done["suspension"]?.without("since"), equals: ["reason": "spam", "until": until])
            try done["suspension"]?["since"]?.isTime()
            try await expectRefusal(403, "Account is suspended until 2099-01-01T00:00:00Z: spam") {
                try await bob.isIn()
            }
            try expect(try await anna(.get, bob.path).succeeded(200)["suspension"], equals: done["suspension"])
            try await anna(.post, "\(bob.path)/suspend", ["reason": "spam"]).refused(
                409, "\(bob.id) is suspended already")
        },
        Scenario("A suspension is lifted", clause: "POST /people/{api}/{id}/restore") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            try await anna(.post, "\(bob.path)/restore", [:]).refused(409, "\(bob.id) is not suspended")
            let suspended = try await anna(.post, "\(bob.path)/suspend", ["reason": "spam"]).succeeded(200)
            try expect(suspended["suspension"]?["until"], equals: nil)
            let done = try await anna(.post, "\(bob.path)/restore", ["reason": "a mistake"]).succeeded(200)
            try expect(done, equals: bob.with([:]))
            try await bob.isIn()
            let acts = try await anna(.get, bob.path).succeeded(200)["acts"]?.elements
            try expect(acts?.first?["subject"], equals: .string("user \(bob.id): a mistake"))
        },
        Scenario("A person is exported", clause: "GET /people/{api}/{id}/export") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            let archive = try await anna(.get, "\(bob.path)/export?reason=asked")
            try expect(archive.body.starts(with: Array("PK".utf8)), "no ZIP file")
            let disposition = HTTPField.Name("Content-Disposition").flatMap { archive.headers[$0] }
            try expect(disposition, equals: "attachment; filename=\"messenger-\(bob.id).zip\"")
            try await anna(.get, "\(bob.path)/export?reason=%20").refused(400, "The reason is empty")
            let acts = try await anna(.get, bob.path).succeeded(200)["acts"]?.elements
            try expect(acts?.map { $0["subject"] ?? .null }, equals: [.string("user \(bob.id): asked")])
        },
        Scenario("A person is deleted", clause: "POST /people/{api}/{id}/delete") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            try await anna(.post, "\(bob.path)/delete", ["reason": ""]).refused(400, "The reason is empty")
            let done = try await anna(.post, "\(bob.path)/delete", ["reason": "asked"]).succeeded(200)
            try expect(done, equals: bob.with([:]))
            try await anna(.get, bob.path).refused(409, "There is no person \(bob.id) in Messenger")
            try await expectRefusal(401, "Invalid credentials") {
                try await bob.client.signIn(username: bob.name, password: OperatorWorld.password)
            }
        },
    ]

    private static let moderation: [Scenario<OperatorWorld>] = [
        Scenario("Nothing is done to what is not there", clause: "POST /people/{api}/{id}/delete") { world in
            let anna = try await world.signedIn()
            let (person, report) = ("/people/messenger/999999999", "/reports/messenger/999999999")
            let reason: JSONValue = ["reason": "a"]
            for step in ["sign-out", "reset-code", "suspend", "restore", "remove-content", "delete"] {
                try await anna(.post, "\(person)/\(step)", reason)
                    .refused(409, "There is no person 999999999 in Messenger", step)
                try await anna(.post, "/people/nowhere/1/\(step)", reason)
                    .refused(404, "There is no API 'nowhere'", step)
            }
            try await anna(.get, "\(person)/export?reason=a")
                .refused(409, "There is no person 999999999 in Messenger")
            for (step, body) in [
                ("act", ["acts": ["warn"], "reason": "a"]), ("dismiss", [:]), ("notes", ["text": "a"]),
            ] as [(String, JSONValue)] {
                try await anna(.post, "\(report)/\(step)", body)
                    .refused(409, "There is no report 999999999 in Messenger", step)
            }
            try await anna(.get, "\(report)/files/1").refused(409, "There is no report 999999999 in Messenger")
        },
        Scenario("What a person wrote is removed", clause: "POST /people/{api}/{id}/remove-content") { world in
            let anna = try await world.signedIn()
            let (bob, alice) = (try await world.person(), try await world.person())
            let chat = try await alice.client.send(Messenger.CreateChat.direct(with: bob.id)).id
            try await bob.client.send(Messenger.SendMessage(chat: chat, content: "spam"))
            func remove(_ body: JSONValue) async throws -> RawAnswer {
                try await anna(.post, "\(bob.path)/remove-content", body)
            }
            try await remove(["reason": ""]).refused(400, "The reason is empty")
            try await remove(["reason": "spam", "since": "2099-01-01T00:00:00Z"])
                .refused(409, "--since is a time that is still to come")
            try expect(
                try await remove(["reason": "spam", "since": "2020-01-01T00:00:00Z"]).succeeded(200),
                equals: bob.with(["removed": 1]))
            try expect(try await remove(["reason": "spam"]).succeeded(200), equals: bob.with(["removed": 0]))
            let acts = try await anna(.get, bob.path).succeeded(200)["acts"]?.elements
            try expect(acts?.first?["subject"], equals: .string("user \(bob.id): spam"))
            try await bob.isIn()
        },
    ]

    // MARK: Tokens

    private static let tokens: [Scenario<OperatorWorld>] = [
        Scenario("Tokens of an account are made, listed and revoked", clause: "GET /tokens/{api}") { world in
            let (anna, account) = (try await world.signedIn(), world.freshName())
            func list() async throws -> [JSONValue] {
                try await anna(.get, "/tokens/monica?account=\(account)").succeeded(200).elements
            }
            try await anna(.post, "/tokens/monica", ["account": .string(account), "name": ""])
                .refused(400, "account and name must have 1 to 255 characters")
            for name in ["phone", "tablet"] {
                let body: JSONValue = ["account": .string(account), "name": .string(name)]
                let made = try await anna(.post, "/tokens/monica", body).succeeded(200)
                try expect(made["text"]?.string?.utf8.count, equals: 43)
            }
            let found = try await list()
            try expect(
                found.map { $0.without("number", "created_at") },
                equals: ["phone", "tablet"].map { ["account": .string(account), "name": .string($0)] })
            for token in found { try token["created_at"]?.isTime() }
            guard let number = found.first?["number"]?.integer else { throw CheckFailure("a token without a number") }
            let revocation = "/tokens/monica/\(number)/revoke"
            try expect(try await anna(.post, revocation, [:]).status, equals: 204)
            try expect(try await list().map { $0["name"] ?? .null }, equals: ["tablet"])
            try await anna(.post, revocation, [:]).refused(
                409, "There is no token \(number): see concord monica token list")
            try await anna(.get, "/tokens/nowhere?account=a")
                .refused(404, "The people of 'nowhere' have no tokens that an operator makes")
        }
    ]

    // MARK: Reports

    private static let reports: [Scenario<OperatorWorld>] = [
        Scenario("A report shows what was reported, then and now", clause: "GET /reports/{api}/{report}") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let path = try await world.report(of: bob, by: alice)
            let anna = try await world.signedIn()
            let shown = try await anna(.get, path).succeeded(200)
            let message = shown["thing"]?.string ?? ""
            try expect(
                shown.without("id", "thing", "place", "created_at", "files"),
                equals: [
                    "api": "messenger", "state": "open", "kind": "message", "content": "rude", "reason": "insults",
                    "details": "again", "reporter": ["id": .string("\(alice.id)"), "name": .string(alice.name)],
                    "person": ["id": .string("\(bob.id)"), "name": .string(bob.name)], "notes": [], "present": "rude",
                ])
            try expect("\(path)", equals: "/reports/messenger/\(shown["id"]?.integer ?? 0)")
            try shown["created_at"]?.isTime()
            let file = shown["files"]?.elements.first
            try expect(file?.without("size"), equals: ["name": "a.jpg", "type": "image/jpeg"])
            let picture = try await anna(.get, "\(path)/files/1")
            try expect(picture.body, equals: SampleImage.jpeg(width: 8, height: 8))
            let id = shown["id"]?.integer ?? 0
            try await anna(.get, "\(path)/files/2").refused(409, "Report \(id) has 1 file")
            let chat = shown["place"]?.string.flatMap { Int64($0) } ?? 0
            try await bob.client.send(
                Messenger.DeleteMessage(chat: .init(chat), message: .init(Int64(message) ?? 0)))
            try expect(try await anna(.get, path).succeeded(200)["present"], equals: .null)
            try await anna(.get, "/reports/messenger/999999999")
                .refused(409, "There is no report 999999999 in Messenger")
            try await anna(.post, "\(path)/dismiss", [:]).succeeded(200)
        },
        Scenario("Reports are listed by their state, the oldest first", clause: "GET /reports") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let anna = try await world.signedIn()
            let paths = [
                try await world.report(of: bob, by: alice), try await world.report(of: bob, by: alice),
            ]
            func own(_ state: String) async throws -> [JSONValue] {
                try await anna(.get, "/reports?state=\(state)&limit=1000").succeeded(200).elements.filter {
                    $0["person"]?["name"]?.string == bob.name
                }
            }
            let open = try await own("open")
            try expect(open.map { "/reports/messenger/\($0["id"]?.integer ?? 0)" }, equals: paths)
            let shown = try await anna(.get, paths.first ?? "").succeeded(200)
            try expect(open.first, equals: shown.without("present"))
            try expect(try await anna(.get, "/reports?state=all&limit=1").succeeded(200).elements.count, equals: 1)
            try await anna(.post, "\(paths.first ?? "")/dismiss", [:]).succeeded(200)
            try await anna(.post, "\(paths.last ?? "")/act", ["acts": ["warn"], "reason": "a"]).succeeded(200)
            for (state, count) in [("open", 0), ("dismissed", 1), ("acted", 1), ("all", 2)] {
                try expect(try await own(state).count, equals: count)
            }
            try await anna(.get, "/reports?state=new").refused(400, "state must be open, acted, dismissed or all")
            try await anna(.get, "/reports?limit=0").refused(400, "limit must be 1 to 1000")
        },
        Scenario("Of two operators one closes a report", clause: "POST /reports/{api}/{report}/act") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let path = try await world.report(of: bob, by: alice)
            let (ben, anna) = (
                try await world.signedIn(.all, as: "operator ben"), try await world.signedIn(.moderate)
            )
            let open = try await ben(.get, path).succeeded(200)
            for (body, words) in [
                (["acts": ["sing"], "reason": "a"], "acts must be of remove, suspend and warn"),
                (["acts": [], "reason": "a"], "acts must be of remove, suspend and warn"),
                (
                    ["acts": ["warn"], "reason": "a", "until": "2099-01-01T00:00:00Z"],
                    "until is the end of a suspension"
                ),
                (["acts": ["warn"], "reason": ""], "The reason is empty"),
            ] as [(JSONValue, String)] { try await ben(.post, "\(path)/act", body).refused(400, words) }
            let until: JSONValue = "2099-01-01T00:00:00Z"
            let body: JSONValue = ["acts": ["remove", "suspend"], "until": until, "reason": "insults"]
            let acted = try await anna(.post, "\(path)/act", body).succeeded(200)
            let changed = open.without("present", "state")
            try expect(acted.without("state", "closing"), equals: changed)
            try expect(acted["state"], equals: "acted")
            try expect(
                acted["closing"]?.without("at"),
                equals: ["by": "operator anna", "acts": ["remove", "suspend"], "reason": "insults"])
            let time = acted["closing"]?["at"]?.string ?? ""
            let id = acted["id"]?.integer ?? 0
            try await ben(.post, "\(path)/act", ["acts": ["warn"], "reason": "a"]).refused(
                409, "Report \(id) was closed by operator anna at \(time): acted")
            try await expectRefusal(403, "Account is suspended until 2099-01-01T00:00:00Z: insults") {
                try await bob.isIn()
            }
            try expect(try await ben(.get, path).succeeded(200)["present"], equals: .null)
        },
        Scenario("A report is dismissed", clause: "POST /reports/{api}/{report}/dismiss") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let path = try await world.report(of: bob, by: alice)
            let anna = try await world.signedIn()
            let open = try await anna(.get, path).succeeded(200)
            let closed = try await anna(.post, "\(path)/dismiss", ["reason": "harmless"]).succeeded(200)
            try expect(closed.without("state", "closing"), equals: open.without("present", "state"))
            try expect(closed["state"], equals: "dismissed")
            try expect(
                closed["closing"]?.without("at"), equals: ["by": "operator anna", "acts": [], "reason": "harmless"])
            try await bob.isIn()
        },
        Scenario("Operators leave notes", clause: "POST /reports/{api}/{report}/notes") { world in
            let (bob, alice) = (try await world.person(), try await world.person())
            let path = try await world.report(of: bob, by: alice)
            let (anna, ben) = (
                try await world.signedIn(), try await world.signedIn(.moderate, as: "operator ben")
            )
            try await anna(.post, "\(path)/notes", ["text": ""]).refused(400, "The note is empty")
            let said = try await anna(.post, "\(path)/notes", ["text": "asked bob"]).succeeded(200)
            try expect(
                said,
                equals: ["text": .string("The note is on \(path.dropFirst(9).replacing("/", with: " report "))")])
            try await ben(.post, "\(path)/notes", ["text": "he is sorry"]).succeeded(200)
            let notes: JSONValue = [
                ["author": "operator anna", "text": "asked bob"], ["author": "operator ben", "text": "he is sorry"],
            ]
            let shown = try await anna(.get, path).succeeded(200)["notes"]?.elements ?? []
            try expect(.list(shown.map { $0.without("at") }), equals: notes)
            for note in shown { try note["at"]?.isTime() }
            let listed = try await anna(.get, "/reports?limit=1000").succeeded(200).elements.first {
                $0["person"]?["name"]?.string == bob.name
            }
            try expect(listed?["notes"], equals: .list(shown))
            let closed = try await anna(.post, "\(path)/act", ["acts": ["warn"], "reason": "a"]).succeeded(200)
            try expect(closed["notes"], equals: .list(shown))
            let (id, time) = (closed["id"]?.integer ?? 0, closed["closing"]?["at"]?.string ?? "")
            try await anna(.post, "\(path)/dismiss", [:])
                .refused(409, "Report \(id) was closed by operator anna at \(time): acted")
        },
    ]

    // MARK: The log

    private static let log: [Scenario<OperatorWorld>] = [
        Scenario("The lines of a request and of a person are found", clause: "GET /log") { world in
            let (anna, bob) = (try await world.signedIn(), try await world.person())
            func lines(_ query: String) async throws -> [JSONValue] {
                try await anna(.get, "/log?\(query)").succeeded(200)["lines"]?.elements ?? []
            }
            let person = "api=messenger&user=\(bob.id)"
            try expect(try await lines(person).count, equals: 0)
            let answer = try await bob.client.answer(Messenger.ListChats())
            let refused = Task { try await bob.client.answer(Messenger.GetChat(id: .init(999_999_999))) }
            _ = await refused.result
            let id = answer.headers[.requestID] ?? ""
            let found = try await anna(.get, "/log?text=\(id)").succeeded(200)
            let line = found["lines"]?.elements.first
            try expect(found["lines"]?.elements.count, equals: 1)
            try expect(line?["level"], equals: "info")
            let text = line?["text"]?.string ?? ""
            try expect(text.hasSuffix(" user=\(bob.id)") && text.contains(" request=\(id) "), text)
            let number = line?["number"]?.integer ?? 0
            try expect(world.host.line(number), equals: text)
            try await expectSoon("the log goes on") {
                let newest = world.host.newestLine
                let found = try await anna(.get, "/log?text=\(id)").succeeded(200)
                // Other scenarios write lines, too.
                guard world.host.newestLine == newest else { return false }
                try expect(found["newest"], equals: .integer(newest))
                return true
            }

            let both = try await lines(person)
            try expect(both.first, equals: line)
            try expect(both.map { $0["text"]?.string?.contains("status=404") == true }, equals: [false, true])
            try expect(try await lines("\(person)&limit=1"), equals: Array(both.suffix(1)))
            try expect(try await lines("\(person)&after=\(number)"), equals: Array(both.suffix(1)))
            try expect(try await lines("\(person)&text=status%3D404"), equals: Array(both.suffix(1)))
            try expect(try await lines("\(person)&level=warning"), equals: [])
            try expect(try await lines("api=monica&user=\(bob.id)"), equals: [])
            try expect(try await lines("text=\(id)&level=info"), equals: Array(both.prefix(1)))
            try await anna(.get, "/log?level=loud").refused(400, "level is not one of a log")
            try await anna(.get, "/log?user=1").refused(400, "api and user name a person together")
            try await anna(.get, "/log?limit=0").refused(400, "limit must be 1 to 1000")
        }
    ]
}
