import Backend
import Contract
import ContractCheck
import ContractServer
import Database
import DeuceDiaryService
import DeuceDiaryTestHost
import DunbarService
import DunbarTestHost
import Foundation
import GTSDService
import GTSDTestHost
import HTTPTypes
import Logging
import MessengerService
import MessengerTestHost
import MonicaTestHost
import Testbed
import Testing

@testable import MonicaService

/// A deleted account leaves nothing about its user in any table, whatever the user did before. The test reads every
/// table, so that a new table is covered, too.
@Suite(.timeLimit(.minutes(30))) struct DeletionLawTests {
    /// An address that only Alice uses.
    private static let address = "203.0.113.77"
    private static let name = "alice-rare-name"
    private static let email = "alice.rare@mail.example"
    private static let displayName = "Alice Rare Person"
    private static let password = "Rare-Secret-1"
    private static let firstID: Int64 = 770_770_001

    /// A server as a client at an address sees it.
    private struct Place {
        let raw: RawClient
        /// The number of idempotency keys that were used.
        let count = Counter()

        init<API: ServiceAPI, Caller>(_ routes: Routes<API, Caller>, at url: URL, from peer: String) {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let table = Router(
                routes, options: .init(logger: logger) { Problem.unavailable($0, API.errorMessages) })
            raw = RawClient(baseURL: url, transport: InProcessTransport(table, peer: peer))
        }

        actor Counter {
            private var last = 0
            func next() -> Int {
                last += 1
                return last
            }
        }

        /// Sends a request under a key of its own, and checks that it succeeds or is refused as expected.
        @discardableResult
        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, token: String? = nil,
            cookie: String? = nil, expecting statuses: Set<Int> = [200, 201, 204]
        ) async throws -> JSONValue {
            var headers: HTTPFields = method == .get ? [:] : [.idempotencyKey: "key \(await count.next())"]
            headers[.cookie] = cookie
            let answer = try await raw.send(method, path, token: token, headers: headers, body: body)
            #expect(statuses.contains(answer.status), "\(method) \(path): \(answer.status) \(answer.text)")
            return answer.body.isEmpty ? .null : (try? answer.json()) ?? .null
        }
    }

    /// Returns the cells that mention Alice, except those of columns that may do so.
    private func remains(
        in database: Database, on engine: Stack.Engine, of more: [String] = [], except columns: Set<String> = []
    ) async throws -> [String] {
        let texts = [Self.name, Self.email, Self.displayName, Self.address] + more
        return try await TableDump(database, engine: engine).cells(mentioning: texts)
            .filter { cell in !columns.contains(String(cell.prefix { $0 != ":" })) }
    }

    /// Waits for the token of an e-mail that resets a password. The server itself may be making it at this moment.
    private func resetTokenIsMade(in database: Database) async throws {
        while try await !database.read({ try $0.exists("SELECT 1 FROM reset_tokens") }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func messenger(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            try await host.database.makeIDsRare(in: "users", from: Self.firstID, engine: engine)
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            let elsewhere = Place(host.service.routes(), at: host.baseURL, from: "198.51.100.1")
            func signUp(_ name: String, _ email: String, at place: Place) async throws -> (id: Int64, token: String) {
                try await place.send(
                    .post, "/auth/register",
                    #"{"username":"\#(name)","email":"\#(email)","password":"\#(Self.password)","display_name":"\#(name == "bob" ? "Bob" : Self.displayName)","accepted_terms":"of \#(name)"}"#
                )
                let signedIn = try await place.send(
                    .post, "/auth/login", #"{"username":"\#(name)","password":"\#(Self.password)"}"#)
                return (try #require(signedIn["user_id"]?.integer), try #require(signedIn["access_token"]?.string))
            }
            for wrong in [Self.name, Self.email] {
                try await home.send(
                    .post, "/auth/login", #"{"username":"\#(wrong)","password":"x"}"#, expecting: [401])
            }
            let bob = try await signUp("bob", "bob@example.com", at: elsewhere)
            let alice = try await signUp(Self.name, Self.email, at: home)
            try await elsewhere.send(
                .post, "/auth/login", #"{"username":"\#(Self.name)","password":"x"}"#, expecting: [401])
            let direct = try #require(
                try await elsewhere.send(
                    .post, "/chats", #"{"type":"direct","member_ids":[\#(alice.id)]}"#, token: bob.token)["id"]?.integer
            )
            let group = try #require(
                try await elsewhere.send(
                    .post, "/chats", #"{"type":"group","name":"x","member_ids":[]}"#, token: bob.token)["id"]?.integer)
            try await elsewhere.send(
                .post, "/chats/\(group)/members", #"{"user_ids":[\#(alice.id)]}"#, token: bob.token)
            var message: Int64 = 0
            for (place, chat, token) in [
                (home, direct, alice.token), (elsewhere, direct, bob.token), (home, group, alice.token),
                (elsewhere, group, bob.token),
            ] {
                let sent = try await place.send(.post, "/chats/\(chat)/messages", #"{"content":"hi"}"#, token: token)
                message = sent["id"]?.integer ?? sent["message"]?["id"]?.integer ?? 0
                if place.count !== home.count {
                    try await elsewhere.send(
                        .post, "/reports", #"{"message_id":\#(message),"reason":"x"}"#, token: bob.token)
                }
            }
            try await home.send(.post, "/chats/\(group)/messages/\(message)/read", token: alice.token)
            try await home.send(.post, "/reports", #"{"message_id":\#(message),"reason":"x"}"#, token: alice.token)
            try await elsewhere.send(.post, "/reports", #"{"user_id":\#(alice.id),"reason":"x"}"#, token: bob.token)
            let own = try #require(
                try await home.send(.post, "/chats/\(direct)/messages", #"{"content":"rude"}"#, token: alice.token)[
                    "id"]?
                    .integer)
            try await elsewhere.send(.post, "/reports", #"{"message_id":\#(own),"reason":"x"}"#, token: bob.token)
            try await home.send(.post, "/users/\(bob.id)/block", token: alice.token)
            try await elsewhere.send(.post, "/users/\(alice.id)/block", token: bob.token)
            try await home.send(.put, "/me", #"{"bio":"\#(Self.displayName)"}"#, token: alice.token)
            try await home.send(.post, "/me/archive", token: alice.token, expecting: [202])
            try await home.send(.post, "/auth/forgot-password", #"{"email":"\#(Self.email)"}"#)
            try await home.send(
                .post, "/me/email", #"{"email":"new.\#(Self.email)","password":"\#(Self.password)"}"#,
                token: alice.token)
            try await home.send(
                .post, "/me/password",
                #"{"current_password":"\#(Self.password)","new_password":"\#(Self.password)2"}"#, token: alice.token)
            try await home.send(
                .post, "/me/password",
                #"{"current_password":"\#(Self.password)2","new_password":"\#(Self.password)"}"#, token: alice.token)
            try await home.send(.post, "/auth/forgot-password", #"{"email":"\#(Self.email)"}"#)
            try await home.send(
                .post, "/me/email", #"{"email":"new.\#(Self.email)","password":"\#(Self.password)"}"#,
                token: alice.token)
            try await host.service.sendDueEmails()
            try await resetTokenIsMade(in: host.database)
            try await home.send(.delete, "/me", #"{"password":"wrong"}"#, token: alice.token, expecting: [403])
            let before = try await remains(in: host.database, on: engine, of: ["\(alice.id)"])
            for table in [
                "users", "familiar_addresses", "once_only", "members", "filed_reports", "blocks", "sessions",
                "reset_tokens",
                "email_changes",
            ] {
                #expect(before.contains { $0.hasPrefix("\(table).") }, "nothing was in \(table)")
            }

            try await home.send(.delete, "/me", #"{"password":"\#(Self.password)"}"#, token: alice.token)
            // The row to which messages refer contains only a number.
            let left = try await remains(
                in: host.database, on: engine, of: ["\(alice.id)"],
                except: [
                    "users.id", "users.username_key", "users.email_key", "messages.sender_id", "chats.direct_low",
                    "chats.direct_high",
                ])
            #expect(left == [])
            let keys = try await host.database.read { db in
                try db.one("SELECT username_key, email_key FROM users WHERE id = \(alice.id)") {
                    [try $0.get(0, as: String.self), try $0.get(1)]
                }
            }
            #expect(keys == ["@\(alice.id)", "\(alice.id)"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func gtsd(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            try await host.database.makeIDsRare(in: "users", from: Self.firstID, engine: engine)
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            let elsewhere = Place(host.service.routes(), at: host.baseURL, from: "198.51.100.1")
            let credentials = #""email":"\#(Self.email)","password":"\#(Self.password)""#
            try await home.send(.post, "/auth/login", "{\(credentials)}", expecting: [401])
            let signedUp = try await home.send(
                .post, "/auth/signup", #"{\#(credentials),"name":"\#(Self.displayName)"}"#)
            let id = try #require(signedUp["data"]?["user"]?["id"]?.string)
            #expect(id == "\(Self.firstID)")
            for place in [home, elsewhere] {
                try await place.send(
                    .post, "/auth/login", #"{"email":"\#(Self.email)","password":"x"}"#, expecting: [401])
            }
            let token = try #require(
                try await home.send(.post, "/auth/login", "{\(credentials)}")["data"]?["accessToken"]?.string)
            try await home.send(
                .post, "/v1/progress/photo/presign",
                #"{"fileName":"\#(Self.name).jpg","contentType":"image/jpeg","fileSize":10}"#, token: token)
            try await home.send(.get, "/v1/tasks/today", token: token)
            try await home.send(.post, "/auth/me/archive", token: token, expecting: [202])
            try await home.send(.post, "/auth/forgot-password", #"{"email":"\#(Self.email)"}"#)
            try await home.send(
                .post, "/auth/email", #"{"email":"new.\#(Self.email)","password":"\#(Self.password)"}"#, token: token)
            try await host.service.sendDueEmails()
            try await resetTokenIsMade(in: host.database)
            try await home.send(.post, "/v1/streaks/check-compliance", "{}", token: token)
            try await home.send(.delete, "/auth/me", #"{"password":"wrong"}"#, token: token, expecting: [403])
            let before = try await remains(in: host.database, on: engine, of: [id])
            for table in [
                "users", "familiar_addresses", "once_only", "sessions", "streaks", "reset_tokens", "email_changes",
            ] {
                #expect(before.contains { $0.hasPrefix("\(table).") }, "nothing was in \(table)")
            }

            try await home.send(.delete, "/auth/me", #"{"password":"\#(Self.password)"}"#, token: token)
            // The key of an object is deleted once its upload URL has expired.
            #expect(
                try await remains(
                    in: host.database, on: engine, of: [id], except: ["discarded_objects.file_key"]) == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func dunbar(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            try await host.database.makeIDsRare(in: "users", from: Self.firstID, engine: engine)
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            let elsewhere = Place(host.service.routes(), at: host.baseURL, from: "198.51.100.1")
            func signUp(_ name: String, _ email: String, at place: Place) async throws -> (id: Int64, cookie: String) {
                try await place.send(
                    .post, "/register",
                    #"{"username":"\#(name)","email":"\#(email)","password":"\#(Self.password)","displayName":"\#(name == "bob" ? "Bob" : Self.displayName)"}"#
                )
                let answer = try await place.raw.send(
                    .post, "/login", body: #"{"username":"\#(name)","password":"\#(Self.password)"}"#)
                let cookie = try #require(answer.headers[.setCookie]).prefix { $0 != ";" }
                return (try #require(try answer.json()["user"]?["id"]?.integer), String(cookie))
            }
            try await home.send(
                .post, "/login", #"{"username":"\#(Self.name)","password":"x"}"#, expecting: [401])
            let bob = try await signUp("bob", "bob@example.com", at: elsewhere)
            let alice = try await signUp(Self.name, Self.email, at: home)
            try await elsewhere.send(
                .post, "/login", #"{"username":"\#(Self.name)","password":"x"}"#, expecting: [401])
            for place in [home, elsewhere] {
                try await place.send(.post, "/forgot-password", #"{"email":"\#(Self.email)"}"#)
            }
            try await home.send(
                .post, "/account/email", #"{"email":"new.\#(Self.email)","password":"\#(Self.password)"}"#,
                cookie: alice.cookie)
            try await host.service.sendDueEmails()
            try await resetTokenIsMade(in: host.database)
            var posts: [Int64] = []
            for (place, user) in [(home, alice), (elsewhere, bob)] {
                try await place.send(.patch, "/users/\(user.id)", #"{"isPrivate":false}"#, cookie: user.cookie)
                let post = try await place.send(.post, "/posts", #"{"content":"hi"}"#, cookie: user.cookie)
                posts.append(try #require(post["id"]?.integer))
            }
            for post in posts {
                for (place, user) in [(home, alice), (elsewhere, bob)] {
                    try await place.send(.post, "/posts/\(post)/comments", #"{"content":"hi"}"#, cookie: user.cookie)
                }
            }
            for (place, user, other, post) in [(home, alice, bob, posts[1]), (elsewhere, bob, alice, posts[0])] {
                try await place.send(.post, "/users/\(other.id)/follow", cookie: user.cookie)
                try await place.send(.post, "/posts/\(post)/report", #"{"reason":"Hateful"}"#, cookie: user.cookie)
            }
            try await home.send(.post, "/users/\(bob.id)/block", cookie: alice.cookie)
            try await home.send(.post, "/account/archive", cookie: alice.cookie, expecting: [202])
            try await home.send(
                .post, "/account/delete", #"{"password":"wrong"}"#, cookie: alice.cookie, expecting: [400])
            let before = try await remains(in: host.database, on: engine, of: ["\(alice.id)"])
            for table in [
                "users", "familiar_addresses", "once_only", "posts", "comments", "blocks", "reset_tokens",
                "email_changes",
            ] {
                #expect(before.contains { $0.hasPrefix("\(table).") }, "nothing was in \(table)")
            }

            try await home.send(.post, "/account/delete", #"{"password":"\#(Self.password)"}"#, cookie: alice.cookie)
            // The rows that hold an entry's place in other users' lists contain numbers, and stay for a day.
            let left = try await remains(
                in: host.database, on: engine, of: ["\(alice.id)"],
                except: ["former_rows.owner_id", "former_rows.other_id"])
            #expect(left == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func deuceDiary(_ engine: Stack.Engine) async throws {
        let stack = Stack(engine, .inProcess)
        try await withDeuceDiary(on: stack, requestsPerMinute: 1000) { host in
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            let elsewhere = Place(host.service.routes(), at: host.baseURL, from: "198.51.100.1")
            let alice = try host.issuer.issue(Self.name, email: Self.email, firstName: Self.displayName)
            let bob = try host.issuer.issue("bob")
            for (place, token) in [(home, alice), (elsewhere, bob)] {
                try await place.send(.get, "/api/auth/user", token: token)
            }
            try await home.send(.put, "/api/auth/user", #"{"username":"alice_rare_name"}"#, token: alice)
            try await home.send(.post, "/api/auth/user/archive", token: alice)
            let group = try #require(
                try await elsewhere.send(.post, "/api/groups", #"{"name":"x"}"#, token: bob)["id"]?.string)
            let own = try #require(
                try await home.send(.post, "/api/groups", #"{"name":"y"}"#, token: alice)["id"]?.string)
            for (place, inviter, guest, to) in [(elsewhere, bob, alice, group), (home, alice, bob, own)] {
                let invite = try await place.send(.post, "/api/groups/\(to)/invite", token: inviter)
                let link = try #require(invite["inviteLink"]?.string)
                let id = try #require(link.split(separator: "/").last)
                let other = place.count === home.count ? elsewhere : home
                try await other.send(.post, "/api/join/\(id)", token: guest)
            }
            for (place, token) in [(home, alice), (elsewhere, bob)] {
                for group in [group, own] {
                    let logged = try await place.send(
                        .post, "/api/deuces", #"{"groupId":"\#(group)","location":"Home","thoughts":"x"}"#, token: token
                    )
                    let entry = logged["entries"]?.elements.first?["id"]?.string ?? logged["id"]?.string
                    for (place, token) in [(home, alice), (elsewhere, bob)] {
                        try await place.send(
                            .post, "/api/entries/\(entry ?? "")/reactions", #"{"emoji":"👍"}"#, token: token)
                    }
                }
            }
            try await home.send(.post, "/api/locations", #"{"name":"Cave"}"#, token: alice)
            let before = try await remains(in: host.database, on: engine)
            for table in ["users", "members", "entries", "reactions", "invites", "once_only", "locations"] {
                #expect(before.contains { $0.hasPrefix("\(table).") }, "nothing was in \(table)")
            }

            try await home.send(.delete, "/api/auth/user", token: alice)
            // The user's id stays, so that older tokens are refused.
            #expect(
                try await remains(
                    in: host.database, on: engine, of: ["alice_rare_name"], except: ["deletions.user_id"]) == [])
        }
    }

    /// A deleted account of Monica leaves no row, whatever it had, and however many records.
    @Test(arguments: Stack.Engine.available)
    func monicasAccount(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            let token = try await host.token(Self.name)
            func id(_ path: String, _ body: String) async throws -> Int64 {
                let made = try await home.send(.post, path, body, token: token)
                return try #require(made["data"]?["id"]?.integer)
            }
            func contact(_ more: String = "") async throws -> Int64 {
                try await id(
                    "/contacts",
                    #"{"first_name":"\#(Self.displayName)","is_birthdate_known":false,"is_deceased":false,"is_deceased_date_known":false\#(more)}"#
                )
            }
            let anna = try await contact(#","email":"\#(Self.email)""#)
            let bob = try await contact(#","is_partial":true"#)
            _ = try await id("/notes", #"{"contact_id":\#(anna),"body":"\#(Self.displayName)","is_favorited":1}"#)
            for contact in ["\(anna)", "null"] {
                _ = try await id(
                    "/tasks", #"{"title":"\#(Self.displayName)","completed":0,"contact_id":\#(contact)}"#)
            }
            _ = try await id(
                "/activities",
                #"{"summary":"\#(Self.displayName)","happened_at":"2026-03-01","contacts":[\#(anna),\#(bob)]}"#)
            _ = try await id(
                "/gifts",
                #"{"contact_id":\#(anna),"name":"\#(Self.displayName)","status":"idea","recipient_id":\#(bob)}"#)
            try await home.send(
                .post, "/contacts/\(anna)/setTags", #"{"tags":["\#(Self.displayName)"]}"#, token: token)
            try await home.send(
                .put, "/contacts/\(anna)/introduction", #"{"met_through_contact_id":\#(bob),"is_date_known":false}"#,
                token: token)
            let type = try await id("/contactfieldtypes", #"{"name":"\#(Self.displayName)"}"#)
            _ = try await id(
                "/contactfields",
                #"{"contact_id":\#(bob),"contact_field_type_id":\#(type),"data":"\#(Self.displayName)"}"#)
            _ = try await id("/addresses", #"{"contact_id":\#(bob),"street":"\#(Self.displayName)"}"#)
            _ = try await id(
                "/calls", #"{"contact_id":\#(bob),"called_at":"2026-03-01","content":"\#(Self.displayName)"}"#)
            _ = try await id(
                "/reminders",
                #"{"contact_id":\#(bob),"title":"\#(Self.displayName)","initial_date":"2026-03-01","frequency_type":"week","frequency_number":1}"#
            )
            _ = try await id(
                "/lifeevents",
                #"{"contact_id":\#(bob),"life_event_type_id":1,"happened_at":"2026-03-01","name":"\#(Self.displayName)","has_reminder":true,"happened_at_month_unknown":false,"happened_at_day_unknown":false}"#
            )
            let talk = try await id(
                "/conversations",
                #"{"contact_id":\#(bob),"happened_at":"2026-03-01","contact_field_type_id":\#(type)}"#)
            _ = try await id(
                "/conversations/\(talk)/messages",
                #"{"content":"\#(Self.displayName)","written_at":"2026-03-01","written_by_me":true}"#)
            _ = try await id("/journal", #"{"title":"\#(Self.displayName)","post":"x"}"#)
            _ = try await id(
                "/debts",
                #"{"contact_id":\#(bob),"in_debt":"no","status":"completed","amount":1,"reason":"\#(Self.displayName)"}"#
            )
            _ = try await id("/pets", #"{"contact_id":\#(bob),"pet_category_id":3,"name":"\#(Self.displayName)"}"#)
            _ = try await id(
                "/relationships", #"{"contact_is":\#(anna),"relationship_type_id":1,"of_contact":\#(bob)}"#)
            // What is merged waits to be undone.
            let double = try await contact()
            try await home.send(.post, "/contacts/\(anna)/merge", #"{"contact_id":\#(double)}"#, token: token)
            try await home.send(.post, "/me/archive", token: token, expecting: [202])
            let before = try await remains(in: host.database, on: engine)
            for table in [
                "accounts", "addresses", "contacts", "contact_fields", "contact_field_types", "notes", "tasks",
                "activities", "gifts", "tags", "calls", "messages", "reminders", "debts", "pets", "life_events",
                "journal", "merges",
            ] {
                #expect(before.contains { $0.hasPrefix("\(table).") }, "nothing was in \(table)")
            }

            try await home.send(.delete, "/me", token: token)
            let tables = [
                "accounts", "tokens", "genders", "contact_field_types", "activity_categories", "activity_types",
                "contacts", "contact_fields", "addresses", "tags", "contact_tags", "activities", "activity_contacts",
                "notes", "tasks", "gifts", "calls", "conversations", "messages", "reminders", "debts", "pets",
                "life_events", "relationships", "merges", "journal", "imports", "import_updates", "search_blocks",
                "search_grams",
                "former_search_blocks", "once_only", "archives",
            ]
            for table in tables {
                let count = try await host.database.read {
                    try $0.value("SELECT COUNT(*) FROM \(SQL(trusted: table))", as: Int.self)
                }
                #expect(count == 0, "\(table)")
            }
            // The audit says which token an operator made.
            #expect(try await remains(in: host.database, on: engine, except: ["audit.subject"]) == [])
            // The name is free, and begins anew.
            let again = try await host.token(Self.name)
            #expect(try await home.send(.get, "/contacts", token: again)["meta"]?["total"] == 0)
        }
    }

    /// A sweep removes what a deletion had not removed when the server ended.
    @Test(arguments: Stack.Engine.available)
    func monicasLargeAccount(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let token = try await host.token("large")
            let kept = try await host.token("kept")
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            for token in [token, kept] {
                try await home.send(
                    .post, "/contacts",
                    #"{"first_name":"x","is_birthdate_known":false,"is_deceased":false,"is_deceased_date_known":false}"#,
                    token: token)
            }
            let account: AccountID = try await host.database.write { db in
                let account: AccountID = try #require(try db.value("SELECT id FROM accounts WHERE name = 'large'"))
                for number in 0..<450 {
                    try db.run(
                        """
                        INSERT INTO contacts (uuid, account_id, first_name, is_starred, is_partial, is_dead, created_at,
                            updated_at)
                        VALUES (\("uuid \(number)"), \(account), 'x', 0, 1, 0, 0, 0)
                        """)
                }
                try AccountDeletion.begin(account, host.service.archives, at: 1, in: db)
                return account
            }
            await #expect(throws: Problem.self) {
                try await host.database.write {
                    try AccountDeletion.begin(account, host.service.archives, at: 2, in: $0)
                }
            }
            try await home.send(.get, "/me", token: token, expecting: [401])
            try await host.service.sweep()
            let left = try await host.database.read { db in
                try db.value("SELECT COUNT(*) FROM contacts WHERE account_id = \(account)", as: Int.self)
            }
            #expect(left == 0)
            #expect(try await host.service.listTokens().map(\.account) == ["kept"])
            #expect(try await home.send(.get, "/contacts", token: kept)["meta"]?["total"] == 1)
        }
    }

    /// An operator creates Monica's tokens, and ends them.
    @Test(arguments: Stack.Engine.available)
    func monica(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let home = Place(host.service.routes(), at: host.baseURL, from: Self.address)
            let token = try await host.token("first")
            try await home.send(.get, "/contacts", token: token)
            #expect(try await remains(in: host.database, on: engine, of: [token]).count == 1)
            let id = try #require(try await host.service.listTokens().first?.id)
            #expect(try await host.service.revokeToken(id, audit: .test))
            #expect(try await remains(in: host.database, on: engine, of: [token]) == [])
        }
    }
}
