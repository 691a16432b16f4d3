import ContractCheck
import ContractClient
import Database
import DeuceDiaryClient
import DeuceDiaryTestHost
import DunbarClient
import DunbarService
import DunbarTestHost
import Foundation
import GTSDTestHost
import MessengerClient
import MessengerService
import MessengerTestHost
import Testbed
import Testing

@testable import Backend

/// `concord reports` and `concord people remove-content`: what people report in each API, and what operators do about it.
@Suite(.timeLimit(.minutes(30))) struct ReportTests {
    // MARK: People

    private func messenger(_ host: MessengerHost, _ name: String) async throws -> (MessengerClient, Messenger.User.ID) {
        let client = MessengerClient(
            baseURL: host.baseURL, transport: host.transport, sockets: host.sockets, retry: .never)
        try await client.send(
            Messenger.Register(username: name, email: "\(name)@example.com", password: "Secret-123"))
        return (client, try await client.signIn(username: name, password: "Secret-123"))
    }

    private func dunbar(_ host: DunbarHost, _ name: String) async throws -> (DunbarClient, Dunbar.User.ID) {
        let client = DunbarClient(
            baseURL: host.baseURL, store: MemoryCookieStore(), transport: host.transport, retry: .never)
        let id = try await client.register(
            .init(username: name, email: "\(name)@example.com", password: "Secret-123", displayName: "The \(name)")
        ).id
        try await client.send(Dunbar.UpdateUser(id: id, isPrivate: false))
        return (client, id)
    }

    private func diary(_ host: DeuceDiaryHost, _ name: String) async throws -> (DeuceDiaryClient, DeuceDiary.User.ID) {
        let token = try host.issuer.issue("user_\(name)", email: "\(name)@example.com", firstName: name)
        let client = DeuceDiaryClient(
            baseURL: host.baseURL, transport: host.transport, retry: .never, token: { token })
        return (client, try await client.send(DeuceDiary.GetUser()).id)
    }

    private static let picture = Upload(
        .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "x.jpg", contentType: "image/jpeg")

    private func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch { return "\(error)" }
    }

    private func act(
        on report: Int64, _ acts: ReportAct..., because reason: String = "rude"
    ) -> ActOnReport {
        ActOnReport(on: report, acts, until: nil, because: reason, format: .text)
    }

    private func show(_ report: Int64) -> ShowReport { ShowReport(report, format: .text) }

    private func count(_ table: SQL, in database: Database) async throws -> Int {
        try await database.read { try $0.value("SELECT COUNT(*) FROM \(table)") ?? 0 }
    }

    // MARK: What a report keeps

    @Test(
        "A message's report shows then and now, and keeps the file after all else is gone",
        arguments: Stack.Engine.available)
    func keptMessage(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, _) = try await messenger(host, "alice")
            let (bob, his) = try await messenger(host, "bob")
            let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
            let file = try await bob.upload(Upload(.bytes(Array("evil".utf8)), filename: "a.txt")).id
            let message = try await bob.send(Messenger.SendMessage(chat: chat, content: "look", file: file)).id
            let rude = try await bob.send(Messenger.SendMessage(chat: chat, content: "rude")).id
            try await alice.send(Messenger.CreateReport(message: message, reason: " spam ", details: "x"))
            try await alice.send(Messenger.CreateReport(message: rude, reason: "rude"))
            try await alice.send(Messenger.CreateReport(user: his, reason: "rude"))
            try await bob.send(Messenger.EditMessage(chat: chat, message: rude, content: "kind"))
            let edited = try await host.perform(show(2))
            #expect(edited.contains("then: \"rude\"\nnow: \"kind\"\n"), "\(edited)")
            #expect(edited.contains("message: \(rude) in chat \(chat) of \(his) \"bob\"\n"), "\(edited)")
            try await bob.send(Messenger.DeleteMessage(chat: chat, message: message))
            let deleted = try await host.perform(show(1))
            #expect(deleted.contains("then: \"look\"\nnow: no longer there\n"), "\(deleted)")
            #expect(deleted.contains("reason: \"spam\"\ndetails: \"x\"\n"), "\(deleted)")
            #expect(deleted.contains("file 1: \"a.txt\", "), "\(deleted)")
            let person = try await host.perform(show(3))
            #expect(person.contains("person: \(his) \"bob\"\n") && person.contains("now: the same\n"), "\(person)")

            // The file outlasts the account, and every sweep within the 90 days; the name and the profile do not.
            try await bob.deleteAccount(password: "Secret-123")
            host.clock.advance(by: .seconds(80 * 86_400))
            try await host.service.sweep()
            #expect(try await host.perform(SaveReportedFile(1, of: 1)) == "evil")
            let nameless = try await host.perform(show(1))
            #expect(nameless.contains("of a deleted account\n") && !nameless.contains("bob"), "\(nameless)")
            #expect(try await host.perform(show(3)).contains("then: nothing was kept\nnow: no longer there\n"))
            #expect(await refusal { try await host.perform(SaveReportedFile(2, of: 1)) } == "Report 1 has 1 file")
            host.clock.advance(by: .seconds(11 * 86_400))
            try await host.service.sweep()
            for table in ["filed_reports", "report_files"] as [SQL] {
                #expect(try await count(table, in: host.database) == 0)
            }
            #expect(await refusal { try await host.perform(show(1)) } == "There is no report 1 in Messenger")
        }
    }

    @Test("A picture that only a report keeps is for operators alone", arguments: Stack.all)
    func keptPicture(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let (john, _) = try await dunbar(host, "john")
            let (jane, _) = try await dunbar(host, "jane")
            let post = try await john.post("rude", media: [Self.picture])
            let url = try #require(post.media.first)
            let other = try #require(try await john.post("fine", media: [Self.picture]).media.first)
            func status(_ url: String) async throws -> Int {
                let request = TransportRequest(method: .get, url: try #require(URL(string: url)))
                return try await host.transport.send(request, progress: nil).status.code
            }
            try await jane.send(Dunbar.ReportPost(post: post.id, reason: .hateful))
            #expect(try await status(url) == 200)
            try await john.send(Dunbar.DeletePost(id: post.id))
            #expect(try await status(url) == 404)
            #expect(try await status(other) == 200)
            host.clock.advance(by: .seconds(7200))
            try await host.service.sweep()
            let saved = try await host.node.perform(SaveReportedFile(1, of: 1))
            #expect(!saved.isEmpty)
            let shown = try await host.node.perform(show(1))
            #expect(shown.contains("image/jpeg") && shown.contains("now: no longer there"), "\(shown)")
        }
    }

    @Test("Posts, comments and people are reported in Dunbar, entries and people in Deuce Diary", arguments: Stack.all)
    func kinds(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let (john, his) = try await dunbar(host, "john")
            let (jane, _) = try await dunbar(host, "jane")
            let post = try await john.post("a post")
            let comment = try await john.send(Dunbar.AddComment(post: post.id, content: "a comment"))
            try await john.uploadPhoto(Self.picture, of: his)
            try await jane.send(Dunbar.ReportComment(comment: comment.id, reason: .hateful))
            try await jane.send(Dunbar.ReportUser(user: his, reason: .hateful))
            let shown = try await host.node.perform(show(1))
            #expect(shown.contains("comment: \(comment.id) on post \(post.id) of \(his) \"john\"\n"), "\(shown)")
            #expect(shown.contains("then: \"a comment\"\nnow: the same\n"), "\(shown)")
            #expect(try await host.node.perform(show(2)).contains("then: \"The john\"\n"))
            // The photo is the one of the report's time.
            try await john.uploadPhoto(Self.picture, of: his)
            let saved = try await host.node.perform(SaveReportedFile(1, of: 2))
            #expect(!saved.isEmpty)
            try await host.node.perform(act(on: 1, .remove))
            #expect(try await jane.send(Dunbar.ListComments(post: post.id)).isEmpty)
        }
        try await withDeuceDiary(on: stack) { host in
            let (john, his) = try await diary(host, "john")
            let (jane, _) = try await diary(host, "jane")
            let group = try await john.send(DeuceDiary.CreateGroup(name: "Throne")).id
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            try await jane.send(DeuceDiary.JoinGroup(invite: invite))
            let solo = try #require(try await john.send(DeuceDiary.ListGroups()).first { $0.id != group }).id
            let entries = try await john.send(
                DeuceDiary.LogDeuce(groups: [group, solo], location: "Home", thoughts: "rude")
            ).entries
            let entry = try #require(entries.first { $0.groupId == group }).id
            try await jane.send(DeuceDiary.ReportEntry(entry: entry, reason: "rude"))
            try await jane.send(DeuceDiary.ReportUser(user: his, reason: "rude"))
            let shown = try await host.perform(show(1))
            #expect(shown.contains("entry: \(entry) in group \(group) of \(his) \"john\"\n"), "\(shown)")
            #expect(shown.contains("then: \"Home\\nrude\"\nnow: the same\n"), "\(shown)")
            // The log has another entry, so it still counts.
            let done = try await host.perform(act(on: 1, .remove, .warn))
            #expect(
                done == """
                    deuce-diary report 1 is closed: remove, warn
                    the warning is recorded, but there is no address for a letter

                    """)
            #expect(try await jane.send(DeuceDiary.GetGroup(group: group)).entries.isEmpty)
            #expect(try await john.send(DeuceDiary.GetUser()).deuceCount == 1)
            #expect(
                await refusal { try await host.perform(act(on: 2, .remove)) }
                    == "Report 2 is about a person: --remove is for what somebody wrote")
            try await host.perform(act(on: 2, .suspend))
            #expect(await refusal { try await john.send(DeuceDiary.GetUser()) }?.contains("suspended") == true)
        }
    }

    // MARK: Acts

    @Test("An act removes, suspends and warns, tells who reported, and is in the audit", arguments: Stack.all)
    func acts(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let (john, his) = try await dunbar(host, "john")
            let (jane, hers) = try await dunbar(host, "jane")
            let (joan, _) = try await dunbar(host, "joan")
            try await host.database.write { db in
                try db.run("UPDATE users SET is_verified = 1 WHERE id IN (\(his), \(hers))")
            }
            let post = try await john.post("rude").id
            for client in [jane, joan] { try await client.send(Dunbar.ReportPost(post: post, reason: .hateful)) }
            try await host.service.sendDueEmails()
            let before = host.mailbox.emails.count
            let done = try await host.node.perform(act(on: 1, .remove, .suspend, .warn, because: "hate"))
            #expect(
                done == """
                    dunbar report 1 is closed: remove, suspend, warn
                    1 other reports of it are closed, too

                    """)
            #expect(await refusal { try await john.send(Dunbar.GetCurrentUser()) }?.contains("hate") == true)
            try await host.service.sendDueEmails()
            let letters = host.mailbox.emails.dropFirst(before)
            // Joan's address is not verified.
            #expect(Set(letters.map(\.to)) == ["john@example.com", "jane@example.com"])
            #expect(letters.first { $0.to == "john@example.com" }?.text.contains("\nhate\n") == true)
            #expect(letters.first { $0.to == "jane@example.com" }?.subject == "Your report was acted on")
            for report in [1, 2] as [Int64] {
                let shown = try await host.node.perform(show(report))
                #expect(shown.contains("acted by \"operator anna\" at "), "\(shown)")
                #expect(shown.contains("(remove, suspend, warn): \"hate\"\n"), "\(shown)")
            }
            let audit = try await host.database.read { try $0.auditEntries(after: 0, limit: 10) }
            #expect(audit.map(\.action) == ["reports act"])
            #expect(audit.first?.actor == "operator anna")
            #expect(audit.first?.subject == "user \(his): report 1, remove, suspend, warn: hate")
        }
    }

    @Test("Sockets hear that a reported message was removed", arguments: Stack.all)
    func sockets(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, _) = try await messenger(host, "alice")
            let (bob, his) = try await messenger(host, "bob")
            let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
            let messages = [
                try await bob.send(Messenger.SendMessage(chat: chat, content: "rude")).id,
                try await bob.send(Messenger.SendMessage(chat: chat, content: "ruder")).id,
            ]
            let version = try await alice.send(Messenger.ListChanges(chat: chat)).version
            let socket = try await alice.openSocket()
            try await socket.send(Messenger.Subscribe(chat: chat))
            while !((try await socket.receive()) is Messenger.Subscribed) {}
            try await alice.send(Messenger.CreateReport(message: messages[0], reason: "rude"))
            try await host.perform(act(on: 1, .remove))
            let frame = try #require(try await socket.receive() as? Messenger.MessageDeletion)
            #expect(frame.id == messages[0] && frame.chat == chat)
            try await host.perform(
                RemoveContent(of: [NamedPerson(id: "\(his)")], since: nil, because: "rude", format: .text))
            let next = try #require(try await socket.receive() as? Messenger.MessageDeletion)
            #expect(next.id == messages[1])
            let changes = try await alice.send(Messenger.ListChanges(chat: chat, after: version))
            #expect(changes.isComplete && changes.version == version + 2)
            #expect(changes.changes.map(\.id) == messages)
        }
    }

    @Test("Of two operators at once one decides, and the other is told", arguments: Stack.all)
    func twoOperators(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, _) = try await messenger(host, "alice")
            let (bob, his) = try await messenger(host, "bob")
            let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
            for round in 1...5 as ClosedRange<Int64> {
                let message = try await bob.send(Messenger.SendMessage(chat: chat, content: "rude")).id
                try await alice.send(Messenger.CreateReport(message: message, reason: "rude"))
                let outcomes = await withTaskGroup(of: (String, String?).self) { group in
                    for (index, name) in ["anna", "ben", "cleo"].enumerated() {
                        group.addTask {
                            let outcome = await self.refusal {
                                if index == 2 {
                                    try await host.perform(
                                        DismissReport(round, because: "", format: .text), by: name)
                                } else {
                                    try await host.perform(self.act(on: round, .remove, .warn), by: name)
                                }
                            }
                            return (name, outcome)
                        }
                    }
                    return await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
                }
                let winners = outcomes.filter { $0.value == nil }
                let winner = try #require(winners.first?.key)
                #expect(winners.count == 1, "\(outcomes)")
                for (name, refusal) in outcomes where name != winner {
                    #expect(
                        refusal?.hasPrefix("Report \(round) was closed by operator \(winner) at 2") == true,
                        "\(refusal ?? "")")
                }
            }
        }
    }

    @Test("A mistake is a clear sentence, and changes nothing", arguments: Stack.Engine.available)
    func mistakes(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, _) = try await messenger(host, "alice")
            let (bob, his) = try await messenger(host, "bob")
            let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
            let message = try await bob.send(Messenger.SendMessage(chat: chat, content: "rude")).id
            try await alice.send(Messenger.CreateReport(message: message, reason: "rude"))
            try await alice.send(Messenger.CreateReport(message: message, reason: "rude"))
            let unknown = "There is no report 9 in Messenger"
            #expect(await refusal { try await host.perform(show(9)) } == unknown)
            #expect(await refusal { try await host.perform(act(on: 9, .remove)) } == unknown)
            #expect(await refusal { try await host.perform(NoteReport("x", on: 9)) } == unknown)
            #expect(await refusal { try await host.perform(SaveReportedFile(1, of: 1)) } == "Report 1 has no files")
            let past = ActOnReport(on: 1, [.suspend], until: .distantPast, because: "x", format: .text)
            #expect(await refusal { try await host.perform(past) } == "--until is a time that has passed")
            // What cannot be done as a whole is not done at all: bob is suspended already.
            try await host.perform(
                SuspendPeople([NamedPerson(id: "\(his)")], until: nil, because: "x", format: .text))
            #expect(
                await refusal { try await host.perform(act(on: 1, .remove, .suspend)) }
                    == "\(his) is suspended already")
            #expect(try await alice.send(Messenger.ListMessages(chat: chat)).map(\.id) == [message])
            try await host.perform(NoteReport("asked bob", on: 1))
            #expect(try await host.perform(show(1)).contains("note of \"operator anna\" at "))
            try await host.perform(DismissReport(1, because: "a quarrel", format: .text))
            let closed = await refusal { try await host.perform(DismissReport(1, because: "", format: .text)) }
            #expect(closed?.hasPrefix("Report 1 was closed by operator anna at 2") == true)
            #expect(closed?.hasSuffix(": dismissed") == true)
            // The other report of the same message is still open; what it is about goes first.
            try await alice.send(Messenger.GetMe())
            try await host.perform(RestorePeople([NamedPerson(id: "\(his)")], because: "", format: .text))
            try await bob.send(Messenger.DeleteMessage(chat: chat, message: message))
            let done = try await host.perform(act(on: 2, .remove))
            #expect(done.contains("message \(message) was gone already\n"), "\(done)")
        }
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let refused = "Nobody sees what the people of GTSD write: it has no reports and nothing to remove"
            #expect(await refusal { try await host.perform(show(1)) } == refused)
            let remove = RemoveContent(of: [NamedPerson(id: "1")], since: nil, because: "x", format: .text)
            #expect(await refusal { try await host.perform(remove) } == refused)
        }
    }

    // MARK: Content

    @Test("What people wrote since a time goes, and what others wrote stays", arguments: Stack.all)
    func content(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let (john, his) = try await dunbar(host, "john")
            let (jane, hers) = try await dunbar(host, "jane")
            let old = try await john.post("old").id
            host.clock.advance(by: .seconds(3600))
            let now = host.clock.source.milliseconds()
            let post = try await john.post("new", media: [Self.picture]).id
            let other = try await jane.post("other").id
            for client in [john, jane] { try await client.send(Dunbar.AddComment(post: other, content: "x")) }
            try await jane.send(Dunbar.AddComment(post: post, content: "x"))
            let since = Date(timeIntervalSince1970: Double(now - 1000) / 1000)
            func remove(_ people: [NamedPerson]) -> RemoveContent {
                RemoveContent(of: people, since: since, because: "spam", format: .text)
            }
            let wrong = [NamedPerson(id: "\(his)", line: 1), NamedPerson(id: "99", line: 2)]
            #expect(
                await refusal { try await host.node.perform(remove(wrong)) }
                    == "Line 2: There is no person 99 in Dunbar. Nothing was done")
            #expect(try await count("posts", in: host.database) == 3)
            let done = try await host.node.perform(remove([NamedPerson(id: "\(his)")]))
            #expect(done == "dunbar \(his) \"john\": 2 removed\n")
            #expect(try await jane.send(Dunbar.ListUserPosts(user: his)).map(\.id) == [old])
            #expect(try await jane.send(Dunbar.ListComments(post: other)).map(\.userId) == [hers])
            #expect(try await host.objects.allKeys().isEmpty)
            let audit = try await host.database.read { try $0.auditEntries(after: 0, limit: 10) }
            #expect(audit.map(\.subject) == ["user \(his): spam"])
        }
        try await withDeuceDiary(on: stack) { host in
            let (john, his) = try await diary(host, "john")
            let (jane, _) = try await diary(host, "jane")
            let group = try await john.send(DeuceDiary.CreateGroup(name: "Throne")).id
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            try await jane.send(DeuceDiary.JoinGroup(invite: invite))
            let solo = try #require(try await john.send(DeuceDiary.ListGroups()).first { $0.id != group }).id
            let kept = try #require(
                try await jane.send(DeuceDiary.LogDeuce(groups: [group], location: "Home", thoughts: "")).entries.first
            ).id
            for groups in [[group], [group, solo]] {
                try await john.send(DeuceDiary.LogDeuce(groups: groups, location: "Home", thoughts: "x"))
            }
            for client in [john, jane] { try await client.send(DeuceDiary.AddReaction(entry: kept, emoji: "💩")) }
            let done = try await host.perform(
                RemoveContent(of: [NamedPerson(id: his.rawValue)], since: nil, because: "spam", format: .text))
            #expect(done == "deuce-diary \(his) \"john\": 4 removed\n")
            let detail = try await jane.send(DeuceDiary.GetGroup(group: group))
            #expect(detail.entries.map(\.id) == [kept])
            #expect(try await jane.send(DeuceDiary.ListGroups()).first { $0.id == group }?.entryCount == 1)
            #expect(try await jane.send(DeuceDiary.ListReactions(entry: kept)).count == 1)
            #expect(try await john.send(DeuceDiary.GetUser()).deuceCount == 0)
            #expect(try await john.send(DeuceDiary.GetMostDeuces()).topDay == nil)
        }
    }

    @Test("Many messages of many people go in small steps", arguments: Stack.Engine.available)
    func manyMessages(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, hers) = try await messenger(host, "alice")
            var people: [NamedPerson] = []
            var chats: [Messenger.Chat.ID] = []
            for index in 0..<3 {
                let (client, id) = try await messenger(host, "fake\(index)")
                people.append(NamedPerson(id: "\(id)"))
                let chat = try await client.send(Messenger.CreateChat.direct(with: hers)).id
                chats.append(chat)
                let file = try await client.upload(Upload(.bytes([1]), filename: "a")).id
                try await client.send(Messenger.SendMessage(chat: chat, content: "spam", file: file))
                _ = try await client.upload(Upload(.bytes([1]), filename: "unused"))
                try await host.database.write { db in
                    try db.run(
                        """
                        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
                        INSERT INTO messages (chat_id, sender_id, content, type, created_at)
                        SELECT CAST(\(chat) AS BIGINT), CAST(\(id) AS BIGINT), 'spam', 'text', CAST(\(host.clock.source.milliseconds()) AS BIGINT)
                        FROM numbers
                        """)
                }
            }
            let answer = try await alice.send(Messenger.SendMessage(chat: chats[0], content: "who are you?")).id
            let done = try await host.perform(
                RemoveContent(of: people, since: nil, because: "spam", format: .text))
            #expect(
                done.split(separator: "\n").map { $0.suffix(12) }
                    == ["1202 removed", "1202 removed", "1202 removed"].map { $0.suffix(12) }, "\(done)")
            #expect(try await alice.send(Messenger.ListMessages(chat: chats[0])).map(\.id) == [answer])
            #expect(try await count("messages", in: host.database) == 1)
            #expect(try await count("files", in: host.database) == 0)
            #expect(try await host.objects.allKeys().isEmpty)
        }
    }

    // MARK: Old databases, and news

    @Test("The reports of a version without a queue are in it", arguments: Stack.Engine.available)
    func formerReports(_ engine: Stack.Engine) async throws {
        let user: (Int) -> SQL = { id in
            """
            INSERT INTO users (username, username_key, email, email_key, display_name, display_key, password, created_at)
            VALUES (\("u\(id)"), \("u\(id)"), \("u\(id)"), \("u\(id)"), 'x', 'x', '', 1)
            """
        }
        func subjects(_ database: Database) async throws -> [String] {
            try await database.read { db in
                try db.all(
                    """
                    SELECT kind, thing_id, COALESCE(reporter_id, 0), COALESCE(person_id, 0), COALESCE(content, '-'),
                        COALESCE(ends_at, 0), state,
                        (SELECT COUNT(*) FROM report_files f WHERE f.report_id = filed_reports.id)
                    FROM filed_reports ORDER BY id
                    """
                ) { row in
                    let texts = [try row.get(0, as: String.self), try row.get(1, as: String.self)]
                    let people = [try row.get(2, as: Int64.self), try row.get(3, as: Int64.self)].map { "\($0)" }
                    let rest = [try row.get(4, as: String.self), "\(try row.get(5, as: Int64.self))", try row.get(6)]
                    return (texts + people + rest + ["\(try row.get(7, as: Int64.self))"]).joined(separator: " ")
                }
            }
        }
        /// Returns what the queue has of the rows of an older database.
        func migrated(_ schema: Schema, _ rows: [SQL]) async throws -> [String] {
            let former = Schema(schema.name, Array(schema.migrations.prefix { $0.name != "a queue of reports" }))
            var found: [String] = []
            try await withTestDatabase(on: engine) { place in
                let old = try place.open(former)
                try await old.write { db in for row in rows { try db.run(row) } }
                try await old.close()
                let database = try place.open(schema)
                found = try await subjects(database)
                let left = try await count("reports", in: database)
                #expect(left == 0)
                try await database.close()
            }
            return found
        }
        let columns: SQL =
            "(reporter_id, user_id, message_id, chat_id, sender_id, content, file_id, reason, created_at)"
        let messages = try await migrated(
            MessengerService.schema,
            [
                user(1), user(2),
                """
                INSERT INTO files (owner_id, filename, mime_type, object_key, size, created_at)
                VALUES (2, 'a', 'b', 'c', 1, 1)
                """,
                "INSERT INTO reports \(columns) VALUES (1, 2, NULL, NULL, NULL, NULL, NULL, 'x', 5)",
                "INSERT INTO reports \(columns) VALUES (0, NULL, 7, 8, 2, 'rude', 1, 'x', 6)",
                "INSERT INTO reports \(columns) VALUES (1, 2, 9, 8, 0, 'bad', NULL, 'x', 7)",
            ]
        )
        #expect(
            messages == [
                "person 2 1 2 - 0 open 0", "message 7 0 2 rude 7776000006 open 1",
                "message 9 1 0 bad 7776000007 open 0",
            ])
        let posts = try await migrated(
            DunbarService.schema,
            [
                user(1), user(2), "INSERT INTO posts (user_id, content, media, created_at) VALUES (2, 'x', 'a.jpg', 1)",
                "INSERT INTO media (name, post_id, user_id, size) VALUES ('a.jpg', 1, 2, 3)",
                """
                INSERT INTO reports (post_id, author_id, reporter_id, reason, content, media_count, created_at)
                VALUES (1, 2, 1, 'Hateful', 'x', 1, 5)
                """,
                """
                INSERT INTO reports (post_id, author_id, reporter_id, reason, content, media_count, created_at, ends_at)
                VALUES (9, NULL, 1, 'Hateful', 'y', 0, 6, 77)
                """,
            ]
        )
        #expect(posts == ["post 1 1 2 x 0 open 1", "post 9 1 0 y 77 open 0"])
    }

    @Test(
        "A node of the version before adds reports that the sweep brings into the queue",
        arguments: Stack.Engine.available)
    func lateReports(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, hers) = try await messenger(host, "alice")
            let (_, his) = try await messenger(host, "bob")
            try await alice.send(Messenger.CreateReport(user: his, reason: "first"))
            try await host.database.write { db in
                try db.run(
                    """
                    INSERT INTO reports (reporter_id, user_id, reason, created_at) VALUES (\(hers), \(his), 'second', 1)
                    """)
                // It has deleted an account, and knew nothing of the queue.
                try db.run("UPDATE users SET deleted_at = 1 WHERE id = \(his)")
            }
            try await host.service.sweep()
            for report in [1, 2] as [Int64] {
                let shown = try await host.perform(show(report))
                #expect(shown.contains("person: a deleted account\n"), "\(shown)")
            }
        }
    }

    @Test("An operator is told of new reports at most once in ten minutes", arguments: Stack.Engine.available)
    func notices(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, _) = try await messenger(host, "alice")
            let (_, his) = try await messenger(host, "bob")
            func claim(at now: Int64) async throws -> ReportNotice? {
                try await host.database.write { try ReportNotice.claim(at: now, in: $0) }
            }
            #expect(try await claim(at: 1) == nil)
            try await alice.send(Messenger.CreateReport(user: his, reason: "x"))
            let first = try #require(try await claim(at: 2))
            #expect(first.new == 1 && first.open == 1)
            #expect(try await host.database.read { try ReportNotice.lastTime(in: $0) } == 2)
            #expect(try await claim(at: 3) == nil)
            // An e-mail that was not sent is about them again.
            try await host.database.write { try first.giveBack(in: $0) }
            #expect(try await host.database.read { try ReportNotice.lastTime(in: $0) } == 0)
            try await alice.send(Messenger.CreateReport(user: his, reason: "x"))
            try await host.perform(DismissReport(1, because: "", format: .text))
            let second = try #require(try await claim(at: 4))
            #expect(second.new == 1 && second.open == 1)
        }
    }
}
