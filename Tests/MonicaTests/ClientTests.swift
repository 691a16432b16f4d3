import Contract
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The client keeps its rules with answers that a test makes up.
@Suite(.timeLimit(.minutes(30))) struct MonicaClientTests {
    // MARK: Repeats

    @Test func transientErrorsAreRetriedAfterGrowingWaits() async throws {
        let script = Script([.status(500), .status(429, retryAfter: 7), .lost, .body(#"{"data":[]}"#)])
        let contacts = try await script.client().listContacts(page: 1, limit: 10, query: nil)
        #expect(contacts.data.isEmpty)
        #expect(script.waits == [1.2, 7.2, 4.2])
        #expect(script.requests.count == 4)
    }

    @Test(arguments: [
        (500, "Monica is having trouble (Error 500). Please try again later."),
        (502, "Monica is having trouble (Error 502). Please try again later."),
        (429, "Too many requests. Please wait a moment and try again."),
    ])
    func afterThreeRetriesTheErrorIsThrown(_ status: Int, _ text: String) async throws {
        let script = Script([.status(status)])
        let error = try await #require(throws: MonicaAPIError.self) {
            try await script.client().getContact(id: 5)
        }
        #expect(error.errorDescription == text)
        #expect(script.waits == [1.2, 2.2, 4.2])
        #expect(script.requests.count == 4)
    }

    @Test func aWaitThatIsTooLongIsLeftToTheApp() async throws {
        let script = Script([.status(429, retryAfter: 3600)])
        await #expect(throws: MonicaAPIError.self) { try await script.client().listTags() }
        #expect(script.waits.isEmpty)
    }

    @Test func aWriteIsRepeatedUnderItsKeyOnly() async throws {
        let created = Script([
            .status(200, body: #"{"data":[]}"#, honoursKeys: true), .lost, .status(503),
            .body(#"{"data":{"id":1,"body":"x","contact_id":1}}"#),
        ])
        let client = created.client()
        _ = try await client.listTags()
        let note = try await client.create(Monica.NoteDraft(contactID: 1, body: "x"))
        #expect(note.id == 1)
        #expect(Set(created.requests.dropFirst().map { $0.headers[.idempotencyKey] }).count == 1)
        #expect(created.requests.count == 4)
        for script in [Script([.lost]), Script([.status(503)])] {
            await #expect(throws: MonicaAPIError.self) {
                try await script.client().update(1, Monica.NoteDraft(contactID: 1, body: "x"))
            }
            await #expect(throws: MonicaAPIError.self) { try await script.client().delete(Monica.Note.self, id: 1) }
            #expect(script.requests.count == 2)
            #expect(script.waits.isEmpty)
        }
    }

    @Test func aCreationIsNotRepeatedAtAServerThatHasNotShownThatItKnowsKeys() async throws {
        for answer in [Script.Answer.lost, .status(503)] {
            let monica4 = Script([.body(#"{"data":[]}"#), answer])
            let client = monica4.client()
            _ = try await client.listTags()
            await #expect(throws: MonicaAPIError.self) {
                try await client.create(Monica.NoteDraft(contactID: 1, body: "x"))
            }
            #expect(monica4.requests.count == 2)
        }
    }

    /// Its list of notes ignores the contact. When all rows of a page happen to be the contact's, they are those of the
    /// account's list nevertheless.
    @Test func listsOfAMonicaThatIgnoresTheContactAreTheContactsOwn() async throws {
        let script = Script([
            .body(
                #"{"data":[{"id":1,"body":"x","contact":{"id":1}}],"links":{"first":"https://monica.example/api/notes?page=1"}}"#
            ),
            .body(#"{"data":[]}"#),
        ])
        _ = try await script.client().listNotes(contactId: 1, page: 1, limit: 10)
        #expect(script.requests.map(\.url.path) == ["/api/notes", "/api/contacts/1/notes"])
    }

    @Test func aCancelledRequestEndsAtOnceAndAsksNoMore() async throws {
        let silent = SilentTransport()
        let client = MonicaAPIClient(
            configuration: APIConfiguration(baseURL: URL(string: "https://monica.example/api")!, token: "secret"),
            transport: silent)
        let read = Task { try await client.getContact(id: 1) }
        await silent.asked()
        read.cancel()
        await #expect(throws: CancellationError.self) { try await read.value }
        await silent.allCancelled()
        #expect(silent.requests == 1)
        let write = Task { try await client.delete(Monica.Note.self, id: 1) }
        await silent.asked()
        write.cancel()
        await #expect(throws: CancellationError.self) { try await write.value }
    }

    // MARK: Sent requests

    @Test func headersAreTheContracts() async throws {
        let script = Script([.body(#"{"data":[]}"#)])
        _ = try await script.client().listContacts(page: 1, limit: 50, query: "john")
        let request = try #require(script.requests.first)
        #expect(request.url.absoluteString == "https://monica.example/api/contacts?query=john&page=1&limit=50")
        #expect(request.headers[.authorization] == "Bearer secret")
        #expect(request.headers[.accept] == "application/json")
        #expect(request.headers[.userAgent] == "MonicaClient/1.0 iOS")
    }

    @Test func theSessionWaitsAsLongAsTheContractSays() {
        let configuration = URLSessionConfiguration.monica
        #expect(configuration.timeoutIntervalForRequest == 10)
        #expect(configuration.timeoutIntervalForResource == 30)
        #expect(configuration.urlCache == nil)
    }

    // MARK: Shared requests

    @Test func identicalRequestsShareOneAnswerForFiveSeconds() async throws {
        let clock = TestClock()
        let script = Script([.body(#"{"data":[]}"#)])
        let client = script.client(clock: clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await client.listNotes(contactId: 5, page: 1, limit: 10) } }
            try await group.waitForAll()
        }
        #expect(script.requests.count == 1)
        clock.advance(by: .milliseconds(4999))
        _ = try await client.listNotes(contactId: 5, page: 1, limit: 10)
        #expect(script.requests.count == 1)
        _ = try await client.listNotes(contactId: 5, page: 2, limit: 10)
        #expect(script.requests.count == 2)
        clock.advance(by: .milliseconds(1))
        _ = try await client.listNotes(contactId: 5, page: 1, limit: 10)
        #expect(script.requests.count == 3)
        // A write invalidates the cache, and a failure is not cached.
        try? await client.delete(Monica.Note.self, id: 1)
        _ = try await client.listNotes(contactId: 5, page: 1, limit: 10)
        #expect(script.requests.count == 5)
        let failing = Script([.status(404), .body(#"{"data":{"id":1,"first_name":"A"}}"#)])
        let other = failing.client(clock: clock)
        await #expect(throws: MonicaAPIError.self) { try await other.getContact(id: 1) }
        let contact = try await other.getContact(id: 1)
        #expect(contact.data.id == 1)
    }

    // MARK: Without a network

    @Test func withoutANetworkTheLastAnswerIsReturned() async throws {
        let clock = TestClock()
        let script = Script([.body(#"{"data":[{"id":1,"first_name":"A"}]}"#), .lost])
        let client = script.client(clock: clock, retryCount: 0)
        let first = try await client.listContacts(page: 1, limit: 10, query: nil)
        #expect(!first.isCached)
        clock.advance(by: .seconds(60))
        let second = try await client.listContacts(page: 1, limit: 10, query: nil)
        #expect(second.isCached)
        #expect(second.data == first.data)
        let error = try await #require(throws: MonicaAPIError.self) {
            try await client.listContacts(page: 2, limit: 10, query: nil)
        }
        #expect(error.errorDescription == "Cannot connect. Check your internet connection and try again.")
        await client.forgetAnswers()
        await #expect(throws: MonicaAPIError.self) { try await client.listContacts(page: 1, limit: 10, query: nil) }
    }

    @Test func answersOutliveTheAppInAFolder() async throws {
        try await withTemporaryFolder { folder in
            let cache = FileResponseCache(folder: URL(fileURLWithPath: folder + "/answers"))
            _ = try await Script([.body(#"{"data":[{"id":1,"name":"x"}]}"#)]).client(cache: cache).listTags()
            let tags = try await Script([.lost]).client(cache: cache, retryCount: 0).listTags()
            #expect(tags.isCached)
            #expect(tags.data.map(\.id) == [1])
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/answers")
            #expect(names.count == 1)
            #expect(!names.joined().contains("secret"))
        }
    }

    @Test func answersAreNotSharedBetweenTokens() async throws {
        let cache = MemoryResponseCache()
        func client(_ token: String, _ url: String, _ script: Script) -> MonicaAPIClient {
            MonicaAPIClient(
                configuration: .init(baseURL: URL(string: url)!, token: token, retryCount: 0), transport: script,
                cache: cache)
        }
        let (here, elsewhere) = ("https://monica.example/api", "https://other.example/api")
        _ = try await client("mine", here, Script([.body(#"{"data":[{"id":1,"name":"x"}]}"#)])).listTags()
        let mine = try await client("mine", here, Script([.lost])).listTags()
        #expect(mine.isCached)
        for (token, url) in [("another", here), ("mine", elsewhere)] {
            await #expect(throws: MonicaAPIError.self) { try await client(token, url, Script([.lost])).listTags() }
        }
    }

    @Test func largeAnswersAreNotStored() async throws {
        let large = String(repeating: "x", count: 1 << 20)
        let script = Script([.body(#"{"data":[{"id":1,"name":"\#(large)"}]}"#), .lost])
        let clock = TestClock()
        let client = script.client(clock: clock, retryCount: 0)
        _ = try await client.listTags()
        clock.advance(by: .seconds(5))
        await #expect(throws: MonicaAPIError.self) { try await client.listTags() }
    }

    // MARK: Errors

    @Test(arguments: [
        (
            400, #"{"error":{"message":"The sorting criteria is invalid","code":400}}"#,
            "The sorting criteria is invalid"
        ),
        (403, "{}", "You don't have permission to access this data."),
        (404, "<html>", "Contact #5 was not found."),
        (422, #"{"error":{"message":["a","b"],"error_code":32}}"#, "a b"),
        (418, "<html>", "Unexpected answer from https://monica.example/api: is it a Monica?"),
        (404, #"{"error":"Not found"}"#, "Unexpected answer from https://monica.example/api: is it a Monica?"),
        (404, #"{"message":"Not found"}"#, "Contact #5 was not found."),
        (404, "", "Contact #5 was not found."),
        (200, "<html>", "Unable to process server response. Please try again."),
        (200, #"{"data":{"id":"x"}}"#, "Unable to process server response. Please try again."),
        (302, "", "Your session expired. Please log in again."),
    ])
    func aRefusalIsASentence(_ status: Int, _ body: String, _ text: String) async throws {
        let script = Script([.status(status, body: body)])
        let error = try await #require(throws: MonicaAPIError.self) { try await script.client().getContact(id: 5) }
        #expect(error.errorDescription == text)
        #expect(error.localizedDescription == text)
        #expect(script.requests.count == 1)
    }

    /// The error names the missing resource of the body, not the one that was to be created.
    @Test func theMissingResourceIsNamed() async throws {
        func refusal(_ message: String, _ request: (MonicaAPIClient) async throws -> Void) async -> String? {
            let script = Script([.status(404, body: #"{"error":{"message":"\#(message)","code":404}}"#)])
            do { try await request(script.client()) } catch { return (error as? MonicaAPIError)?.errorDescription }
            return nil
        }
        let note = Monica.NoteDraft(contactID: 999_999, body: "x")
        let create: (MonicaAPIClient) async throws -> Void = { try await $0.create(note) }
        let update: (MonicaAPIClient) async throws -> Void = { try await $0.update(7, note) }
        #expect(await refusal("The requested contact was not found.", create) == "Contact was not found.")
        #expect(await refusal("The resource has not been found", create) == "Contact was not found.")
        #expect(await refusal("The requested contact was not found.", update) == "Contact was not found.")
        #expect(await refusal("The requested note was not found.", update) == "Note #7 was not found.")
    }

    /// Other servers return 15 tags at a time unless more are requested.
    @Test func tagsAreAskedForAHundredAtATime() async throws {
        func page(_ page: Int) -> Script.Answer {
            .body(#"{"data":[{"id":\#(page),"name":"x"}],"meta":{"current_page":\#(page),"last_page":2}}"#)
        }
        let script = Script([page(1), page(2)])
        let tags = try await script.client().listTags()
        #expect(tags.data.map(\.id) == [1, 2])
        #expect(script.requests.map(\.url.query) == ["limit=100", "page=2&limit=100"])
    }

    @Test func aTokenIsValidatedOnceAfterA401() async throws {
        let script = Script([.status(401)])
        let error = try await #require(throws: MonicaAPIError.self) { try await script.client().getContact(id: 5) }
        #expect(error.errorDescription == "Your session expired. Please log in again.")
        #expect(script.requests.map(\.url.path) == ["/api/contacts/5", "/api/contacts"])
        #expect(script.requests.last?.url.query == "limit=1")

        let passing = Script([.status(401), .body(#"{"data":[]}"#), .body(#"{"data":{"id":5,"first_name":"A"}}"#)])
        let contact = try await passing.client().getContact(id: 5)
        #expect(contact.data.id == 5)
        #expect(passing.requests.count == 3)
    }

    @Test func validationHasThreeOutcomes() async throws {
        let yes = try await Script([.body(#"{"data":[]}"#)]).client().validateToken()
        let denied = Script([.status(401)])
        let no = try await denied.client().validateToken()
        #expect(yes && !no)
        #expect(denied.requests.count == 1)
        for status in [403, 500, 404] {
            await #expect(throws: MonicaAPIError.self) { try await Script([.status(status)]).client().validateToken() }
        }
        // Every Monica has the list that is asked for, so a server without it is another one.
        let elsewhere = Script([.status(404, body: #"{"message":"Not found"}"#)])
        let error = await #expect(throws: MonicaAPIError.self) { try await elsewhere.client().validateToken() }
        #expect(error?.errorDescription == "Unexpected answer from https://monica.example/api: is it a Monica?")
        await #expect(throws: MonicaAPIError.self) { try await Script([.lost]).client().validateToken() }
    }

    // MARK: Other servers

    @Test func aRefusedLimitIsRetriedSmaller() async throws {
        let tooBig = Script.Answer.status(
            400, body: #"{"error":{"message":"The limit parameter is too big","error_code":30}}"#)
        let script = Script([tooBig, tooBig, .body(#"{"data":[]}"#)])
        _ = try await script.client().listContacts(page: 2, limit: 100, query: "x")
        #expect(
            script.requests.map(\.url.query) == [
                "query=x&page=2&limit=100", "query=x&page=3&limit=50", "query=x&page=7&limit=15",
            ])
    }

    /// Numbers of a server or an app that would overflow end a list.
    @Test func numbersThatAreTooLargeEndAList() async throws {
        let most = Int.max
        let page =
            #"{"data":[{"id":1,"name":"x"}],"meta":{"total":\#(most),"current_page":\#(most),"per_page":\#(most)}}"#
        let script = Script([.body(page)])
        var count = 0
        for try await _ in script.client().contacts() { count += 1 }
        #expect(count == 1)
        let tooBig = Script([.status(400, body: #"{"error":{"message":"The limit parameter is too big"}}"#)])
        await #expect(throws: MonicaAPIError.self) {
            try await tooBig.client().listContacts(page: most, limit: most, query: nil)
        }
        #expect(tooBig.requests.count == 4)
    }

    @Test func aListThatIgnoresItsFilterIsRequestedUnderTheContact() async throws {
        let script = Script([.body(#"{"data":[{"id":1,"body":"x","contact":{"id":9}}]}"#), .body(#"{"data":[]}"#)])
        let client = script.client()
        _ = try await client.listNotes(contactId: 5, page: 1, limit: 10)
        _ = try await client.listNotes(contactId: 6, page: 1, limit: 10)
        #expect(
            script.requests.map(\.url.path) == ["/api/notes", "/api/contacts/5/notes", "/api/contacts/6/notes"])
        let gone = Script([.body(#"{"data":[{"id":1,"body":"x","contact":{"id":9}}]}"#), .status(404)])
        let none = try await gone.client().listNotes(contactId: 5, page: 1, limit: 10)
        #expect(none.data.isEmpty)
    }

    @Test func tagsAreReadToTheLastPage() async throws {
        func page(_ number: Int) -> Script.Answer {
            .body(
                #"{"data":[{"id":\#(number),"name":"t"}],"meta":{"total":3,"current_page":\#(number),"per_page":"1","last_page":3}}"#
            )
        }
        let script = Script([page(1), page(2), page(3)])
        let tags = try await script.client().listTags()
        #expect(tags.data.map(\.id) == [1, 2, 3])
        #expect(tags.meta?.total == 3)
        #expect(script.requests.map(\.url.query) == ["limit=100", "page=2&limit=100", "page=3&limit=100"])
    }

    @Test func pagesAreAskedForByNumberAndSize() async throws {
        func page(_ number: Int) -> Script.Answer {
            .body(
                #"{"data":[{"id":\#(number),"first_name":"A"}],"meta":{"total":2,"current_page":\#(number),"per_page":1,"last_page":2},"links":{"next":"https://elsewhere.example/contacts?page=2"}}"#
            )
        }
        let script = Script([page(1), page(2)])
        var ids: [Int] = []
        for try await contact in script.client().contacts(matching: "a", pageSize: 100) { ids.append(contact.id) }
        #expect(ids == [1, 2])
        #expect(script.requests.map(\.url.query) == ["query=a&page=1&limit=100", "query=a&page=2&limit=1"])
        #expect(script.requests.allSatisfy { $0.url.host == "monica.example" })
    }
}

extension MonicaClientTests {
    @Test func listsTakeTypedFilters() async throws {
        let script = Script([.body(#"{"data":[]}"#)])
        let client = script.client()
        for try await _ in client.contacts(matching: "a", sortedBy: .descending(.updatedAt)) {}
        for try await _ in client.contacts(tagged: 7, pageSize: 10) {}
        for try await _ in client.activities(of: 5, sortedBy: .ascending(.happenedAt)) {}
        for try await _ in client.notes(sortedBy: .descending(.favoritedAt)) {}
        for try await _ in client.tasks(of: 5, sortedBy: .ascending(.completedAt), pageSize: 3) {}
        for try await _ in client.gifts() {}
        #expect(
            script.requests.map { "\($0.url.path)?\($0.url.query ?? "")" } == [
                "/api/contacts?query=a&page=1&limit=100&sort=-updated_at", "/api/tags/7/contacts?page=1&limit=10",
                "/api/activities?contact_id=5&page=1&limit=100&sort=happened_at",
                "/api/notes?page=1&limit=100&sort=-favorited_at",
                "/api/tasks?contact_id=5&page=1&limit=3&sort=completed_at", "/api/gifts?page=1&limit=100",
            ])
    }
}
