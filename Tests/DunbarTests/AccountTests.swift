import ContractCheck
import Database
import DunbarAPI
import DunbarClient
import DunbarService
import Foundation
import HTTPTypes
import Identity
import Testbed
import Testing

/// Accounts can be recovered and deleted, and expire correctly.
@Suite(.timeLimit(.minutes(30))) struct DunbarAccountTests {
    private func code(_ host: DunbarHost) async throws -> String {
        try await host.service.sendDueEmails()
        let codes = host.mailbox.emails.compactMap { $0.text.firstMatch(of: #/\n([A-Za-z0-9_-]{43})\n/#)?.output.1 }
        return String(try #require(codes.last))
    }

    private func forget(_ address: String, on host: DunbarHost) async throws -> RawAnswer {
        try await RawClient(baseURL: host.baseURL, transport: host.transport)
            .send(.post, "/forgot-password", body: #"{"email":"\#(address)"}"#)
    }

    private func count(_ table: SQL, on host: DunbarHost) async throws -> Int {
        try await host.database.read { try $0.value("SELECT COUNT(*) FROM \(table)", as: Int.self) } ?? -1
    }

    @Test(arguments: Stack.all)
    func aCodeIsValidForAnHourFromItsEmailAndStoredAsAHash(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            #expect(try await forget("\(john.name)@example.com", on: host).status == 200)
            // The mail server was away for a while.
            host.clock.advance(by: .seconds(7200))
            let code = try await code(host)
            let stored = try await host.database.read { db in
                try db.all("SELECT hash FROM reset_tokens") { try $0.get(0, as: [UInt8].self) }
            }
            #expect(stored == [Digest.sha256(code)])
            func reset() async throws -> RawAnswer {
                try await host.world().raw.send(
                    .post, "/reset-password", body: #"{"token":"\#(code)","newPassword":"new password"}"#)
            }
            host.clock.advance(by: .seconds(3600))
            let late = try await reset()
            #expect(late.status == 400)
            #expect(late.text == #"{"message":"Invalid or expired reset token"}"#)
            try await host.service.sweep()
            #expect(try await count("reset_tokens", on: host) == 0)
            #expect(try await forget("\(john.name)@example.com", on: host).status == 200)
            let another = try await self.code(host)
            host.clock.advance(by: .seconds(3599))
            let answer = try await host.world().raw.send(
                .post, "/reset-password", body: #"{"token":"\#(another)","newPassword":"new password"}"#)
            #expect(answer.status == 200)
        }
    }

    /// The server does the same work for an address with and without an account.
    @Test(arguments: Stack.all)
    func sendingAnEmailIsNotAwaited(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            try await host.service.sendDueEmails()
            let emails = host.mailbox.emails.count
            for (address, isKnown) in [("nobody@example.com", false), ("\(john.name)@example.com", true)] {
                #expect(try await forget(address, on: host).status == 200)
                // The e-mail waits in a queue, and the account has not been looked up yet.
                #expect(try await count("outbox", on: host) == 1)
                #expect(try await count("reset_tokens", on: host) == 0)
                #expect(host.mailbox.emails.count == emails)
                try await host.service.sendDueEmails()
                #expect(try await count("outbox", on: host) == 0)
                #expect(try await count("reset_tokens", on: host) == (isKnown ? 1 : 0))
                #expect(host.mailbox.emails.count == emails + (isKnown ? 1 : 0))
            }
            #expect(host.mailbox.emails.last?.to == "\(john.name)@example.com")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aMailServerThatIsAwayIsTriedAgain(_ engine: Stack.Engine) async throws {
        struct Away: Error {}
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            host.mailbox.fail(with: Away())
            let john = try await host.world().person()
            #expect(try await forget("\(john.name)@example.com", on: host).status == 200)
            try await host.service.sendDueEmails()
            #expect(host.mailbox.emails.isEmpty)
            host.mailbox.fail(with: nil)
            host.clock.advance(by: .seconds(2))
            try await host.service.sendDueEmails()
            #expect(Set(host.mailbox.emails.map(\.subject)) == ["Verify your email address", "Reset your password"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func emailsAreLimited(_ engine: Stack.Engine) async throws {
        var setup = DunbarSetup()
        setup.peer = "192.0.2.1"
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            for index in 0..<5 {
                let address = index % 2 == 0 ? " A@example.com" : "a@EXAMPLE.com"
                #expect(try await forget(address, on: host).status == 200)
            }
            let refused = try await forget("a@example.com", on: host)
            #expect(refused.status == 429)
            #expect(refused.text == #"{"message":"Too many requests, please try again later"}"#)
            #expect(refused.headers[.retryAfter] == "3600")
            #expect(try await forget("b@example.com", on: host).status == 200)
            host.clock.advance(by: .seconds(3600))
            #expect(try await forget("a@example.com", on: host).status == 200)
        }
    }

    /// A stolen session does not allow more password attempts than any other client has.
    @Test(arguments: Stack.Engine.available)
    func guessingByDeletingIsLimited(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let john = try await world.person()
            for index in 0..<10 {
                let answer =
                    index % 2 == 0
                    ? try await john.raw(.post, "/account/delete", body: #"{"password":"wrong"}"#)
                    : try await world.raw.send(
                        .post, "/login", body: #"{"username":"\#(john.name)","password":"wrong"}"#)
                #expect(answer.status == (index % 2 == 0 ? 400 : 401))
            }
            let refused = try await john.raw(.post, "/account/delete", body: #"{"password":"secret123"}"#)
            #expect(refused.status == 429)
            host.clock.advance(by: .seconds(60))
            try await john.client.deleteAccount(password: "secret123")
        }
    }

    /// Nor does one that changes the password. A repeat under the same key is no attempt.
    @Test(arguments: Stack.Engine.available)
    func guessingByChangingIsLimited(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            func change(_ present: String, _ headers: HTTPFields = [:]) async throws -> RawAnswer {
                try await john.raw(
                    .post, "/account/password", headers: headers,
                    body: #"{"currentPassword":"\#(present)","newPassword":"another one"}"#)
            }
            for _ in 0..<4 {
                #expect(try await change("secret123", [.idempotencyKey: "the change"]).status == 200)
            }
            for _ in 0..<10 { #expect(try await change("secret123").status == 400) }
            let refused = try await change("another one")
            #expect(refused.status == 429 && refused.headers[.retryAfter] == "60")
            host.clock.advance(by: .seconds(60))
            #expect(try await change("another one").status == 200)
        }
    }

    /// The test reads every table, so that a new table is covered, too.
    @Test(arguments: Stack.Engine.available)
    func noRowOfADeletedAccountIsKept(_ engine: Stack.Engine) async throws {
        // Files have the machine's times, so the sweep's clock begins there.
        let clock = TestClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        try await withDunbar(on: Stack(engine, .inProcess), .init(clock: clock)) { host in
            let world = host.world()
            let jane = try await world.person(isPrivate: false)
            let kept = try await jane.publish()
            try await host.service.sendDueEmails()
            let tables = [
                "users", "email_tokens", "reset_tokens", "email_changes", "sessions", "once_only", "attempts",
                "familiar_addresses",
                "follows", "posts", "media", "comments", "blocks", "outbox", "unsigned_files", "rejections",
                "search_grams", "archives",
            ]
            // These rows outlast accounts for a time, without a user's id.
            let lasting = ["filed_reports", "report_files", "former_rows", "audit"]
            let known = try await host.database.read { db in
                try db.all(
                    engine == .sqlite
                        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                        : "SELECT tablename FROM pg_tables WHERE schemaname = 'dunbar'"
                ) { try $0.get(0, as: String.self) }
            }
            #expect(
                Set(known).subtracting([
                    "schema_migrations", "installation", "once_only_subjects", "search_blocks", "report_notes",
                    "report_notices", "reports", "bars", "doors", "invitation_codes",
                ]) == Set(tables + lasting))
            func counts() async throws -> [String: Int] {
                var counts: [String: Int] = [:]
                for table in tables + lasting { counts[table] = try await count(SQL(trusted: table), on: host) }
                return counts
            }
            let before = try await counts()

            let john = try await world.person(isPrivate: false)
            let picture = Upload(
                .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "x.jpg", contentType: "image/jpeg")
            try await john.client.uploadPhoto(picture, of: john.id)
            let post = try await john.client.post("x", media: [picture, picture])
            try await john.send(Dunbar.RequestArchive())
            for (person, other, post) in [(john, jane, kept.id), (jane, john, post.id)] {
                try await person.follow(other)
                _ = try await person.client.answer(
                    Dunbar.AddComment(post: post, content: "x"), idempotencyKey: "comment of \(person.name)")
                try await person.send(Dunbar.ReportPost(post: post, reason: .hateful))
            }
            let nobody = try await world.person("other")
            try await john.send(Dunbar.Follow(user: nobody.id))
            let request = try #require(try await nobody.send(Dunbar.ListPendingRequests()).first)
            try await nobody.send(Dunbar.RejectRequest(id: request.id))
            try await john.send(Dunbar.Block(user: nobody.id))
            try await host.database.write { db in
                try db.run("INSERT INTO unsigned_files (name) SELECT name FROM media")
            }
            _ = try await forget("\(john.name)@example.com", on: host)
            try await host.service.sendDueEmails()
            #expect(
                try await world.raw.send(
                    .post, "/login", body: #"{"username":"\#(john.name)","password":"secret123"}"#
                ).status == 200)
            _ = try await john.send(
                Dunbar.ChangeEmail(email: "another@example.com", password: "secret123"))
            try await host.service.sendDueEmails()
            // One e-mail still waits.
            _ = try await forget("\(john.name)@example.com", on: host)
            let during = try await counts()
            for table in tables where table != "outbox" { #expect(during[table] != before[table], "\(table)") }

            try await john.client.deleteAccount(password: "secret123")
            let other = try await world.raw.send(
                .post, "/login", body: #"{"username":"other","password":"secret123"}"#)
            #expect(other.status == 200)
            #expect(
                try await world.raw.send(
                    .post, "/account/delete", headers: [.cookie: try #require(other.cookie)],
                    body: #"{"password":"secret123"}"#
                ).status == 200)
            let emails = host.mailbox.emails.count
            try await host.service.sendDueEmails()
            #expect(host.mailbox.emails.count == emails)
            var after = try await counts()
            // These are the stored answers to Jane's own comment and report.
            after["once_only"]? -= 2
            for table in lasting { after[table] = before[table] }
            #expect(after == before)
            let named = try await host.database.read { db in
                try db.value(
                    "SELECT COUNT(*) FROM filed_reports WHERE person_id = \(john.id) OR reporter_id = \(john.id)",
                    as: Int.self)
            }
            #expect(named == 0)
            host.clock.advance(by: .seconds(90 * 24 * 3600))
            try await host.service.sweep()
            for table in lasting { #expect(try await count(SQL(trusted: table), on: host) == 0) }
            // The report's copy of the picture is the last.
            #expect(try await host.objects.allKeys().isEmpty)
        }
    }

    /// A post's files are stored before its row is written. Deleting the account in between must remove both.
    @Test(arguments: Stack.Engine.available)
    func anAccountDeletedDuringAnUploadLeavesNoFile(_ engine: Stack.Engine) async throws {
        let (made, continue_) = AsyncStream<Void>.makeStream()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        var setup = DunbarSetup()
        setup.images = { path, _, _ in
            begin.yield()
            for await _ in made { break }
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            let john = try await host.world().person()
            let picture = Upload(
                .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "x.jpg", contentType: "image/jpeg")
            async let post = john.client.post("x", media: [picture])
            for await _ in begun { break }
            try await john.client.deleteAccount(password: "secret123")
            continue_.finish()
            do {
                _ = try await post
                Issue.record("it was published")
            } catch APIError.unauthorized {}
            #expect(try await host.objects.allKeys().isEmpty)
            for table in ["users", "posts", "media"] as [SQL] {
                #expect(try await count(table, on: host) == 0)
            }
        }
    }

    /// A report as it is stored.
    private struct StoredReport: Equatable {
        let content: String
        let reason: String
        let details: String?
        let hasAuthor: Bool
        let hasReporter: Bool
        let files: Int
    }

    private func reports(on host: DunbarHost) async throws -> [StoredReport] {
        try await host.database.read { db in
            try db.all(
                """
                SELECT content, reason, details, CASE WHEN person_id IS NULL THEN 0 ELSE 1 END,
                    CASE WHEN reporter_id IS NULL THEN 0 ELSE 1 END,
                    (SELECT COUNT(*) FROM report_files f WHERE f.report_id = filed_reports.id)
                FROM filed_reports ORDER BY id
                """
            ) { row in
                StoredReport(
                    content: try row.get(0), reason: try row.get(1), details: try row.get(2),
                    hasAuthor: try row.get(3), hasReporter: try row.get(4), files: try row.get(5))
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aReportOutlastsItsPostAndItsAuthorFor90Days(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let john = try await world.person("john", isPrivate: false)
            let jane = try await world.person("jane")
            let picture = Upload(
                .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "x.jpg", contentType: "image/jpeg")
            let first = try await john.client.post("first", media: [picture])
            let second = try await john.publish("second")
            try await jane.send(Dunbar.ReportPost(post: first.id, reason: .criminalActivity, details: " why \n"))
            try await jane.send(Dunbar.ReportPost(post: second.id, reason: .hateful, details: " "))
            func expected(author: Bool) -> [StoredReport] {
                [
                    .init(
                        content: "first", reason: "Criminal_Activity", details: "why", hasAuthor: author,
                        hasReporter: true, files: 1),
                    .init(
                        content: "second", reason: "Hateful", details: nil, hasAuthor: author, hasReporter: true,
                        files: 0),
                ]
            }
            #expect(try await reports(on: host) == expected(author: true))
            try await john.send(Dunbar.DeletePost(id: second.id))
            #expect(try await reports(on: host) == expected(author: true))
            host.clock.advance(by: .seconds(80 * 24 * 3600))
            let again = try await world.raw.send(
                .post, "/login", body: #"{"username":"john","password":"secret123"}"#)
            #expect(again.status == 200)
            try await host.service.sweep()
            #expect(try await reports(on: host).count == 2)
            let cookie = again.headers[.setCookie]?.split(separator: ";").first.map(String.init)
            let gone = try await world.raw.send(
                .post, "/account/delete", headers: [.cookie: try #require(cookie)], body: #"{"password":"secret123"}"#)
            #expect(gone.status == 200)
            #expect(try await reports(on: host) == expected(author: false))
            // This is 90 days after the post was deleted. The second advance is 90 days after the account was deleted.
            host.clock.advance(by: .seconds(10 * 24 * 3600))
            try await host.service.sweep()
            #expect(try await reports(on: host).map(\.content) == ["first"])
            host.clock.advance(by: .seconds(80 * 24 * 3600))
            try await host.service.sweep()
            #expect(try await reports(on: host).isEmpty)
        }
    }
}
