import ContractCheck
import ContractClient
import DeuceDiaryClient
import DeuceDiaryMocks
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import DeuceDiaryCheck

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The SDK pages through lists, repeats safe requests, and keeps requests to their user.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryClientTests {
    private static let id = "0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e"

    // MARK: Links

    @Test(arguments: [
        "deucediary://join/\(id)", "DEUCEDIARY://JOIN/\(id)", "https://deucediary.com/join/\(id)",
        "https://example.com:8443/join/\(id)?utm=x#y", "http://127.0.0.1:8081/join/\(id)", "deucediary:///join/\(id)",
        "https://deucediary.com/join/\(id)/", "deucediary://join/\(id.uppercased())",
    ])
    func aLinkLeadsToItsInvite(_ link: String) throws {
        let url = try #require(URL(string: link))
        #expect(DeuceDiary.Invite.id(in: url)?.rawValue.lowercased() == Self.id)
    }

    @Test(arguments: [
        "deucediary://join", "deucediary://join/", "deucediary://join/x", "deucediary://group/\(id)",
        "deucediary://join/\(id)/x", "https://deucediary.com/\(id)", "https://deucediary.com/api/join/\(id)",
        "https://join/\(id)", "ftp://deucediary.com/join/\(id)", "mailto:join@\(id)", "/join/\(id)",
        "https://deucediary.com/join/\(id)x", "otherapp://join/\(id)",
    ])
    func otherLinksAreIgnored(_ link: String) throws {
        let url = try #require(URL(string: link))
        #expect(DeuceDiary.Invite.id(in: url) == nil)
    }

    // MARK: Pictures

    @Test(arguments: [
        ("https://api.example.com", "/uploads/u-1.jpg", "https://api.example.com/uploads/u-1.jpg"),
        ("https://api.example.com/", "/uploads/u-1.jpg", "https://api.example.com/uploads/u-1.jpg"),
        ("https://example.com/diary", "/uploads/u-1.jpg", "https://example.com/diary/uploads/u-1.jpg"),
        ("https://api.example.com", "https://img.example.com/a.jpg", "https://img.example.com/a.jpg"),
    ])
    func aPictureIsRelativeToTheBaseURL(_ base: String, _ path: String, _ expected: String) throws {
        var user = DeuceDiary.User.example
        user.profileImageUrl = path
        #expect(user.profileImage(relativeTo: try #require(URL(string: base)))?.absoluteString == expected)
        user.profileImageUrl = nil
        #expect(user.profileImage(relativeTo: try #require(URL(string: base))) == nil)
    }

    @Test(arguments: Stack.all)
    func anUploadHasAProgress(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(SampleImage.jpeg(width: 800, height: 600)).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let (steps, continuation) = AsyncStream<Bool>.makeStream()
            let user = try await john.client.uploadProfilePicture(
                Upload(.file(file), filename: "me.jpg", contentType: "image/jpeg")
            ) { sent, size in
                continuation.yield(sent <= size && size > 0)
            }
            continuation.finish()
            var isPlausible = true
            for await step in steps { isPlausible = isPlausible && step }
            #expect(isPlausible)
            let url = try #require(user.profileImage(relativeTo: host.baseURL))
            let fetched = try await host.transport.send(TransportRequest(method: .get, url: url), progress: nil)
            #expect(SampleImage.size(ofJPEG: fetched.body)?.width == 200)
        }
    }

    // MARK: Usernames

    @Test(
        arguments: [
            ("", "Username is required"), ("ab", "String must contain at least 3 character(s)"),
            (String(repeating: "a", count: 21), "String must contain at most 20 character(s)"),
            ("a-b", "Username can only contain letters, numbers, underscores, and spaces"),
            ("Zoë", "Username can only contain letters, numbers, underscores, and spaces"),
            ("   ", "Username must not be blank"), ("abc", nil), ("a b_9", nil), (" ab", nil),
        ] as [(String, String?)])
    func aUsernameIsLookedAtBeforeItIsSent(_ name: String, _ message: String?) async throws {
        var found: String?
        do { try DeuceDiary.Username.validate(name) } catch { found = error.message }
        #expect(found == message)
        let mock = DeuceDiaryMock()
        let error: APIError?
        do {
            try await mock.client().send(DeuceDiary.UpdateUser(username: name))
            error = nil
        } catch let refusal as APIError {
            error = refusal
        }
        #expect(error?.message == message)
        #expect(mock.requests.isEmpty == (message != nil))
    }

    // MARK: Logging

    @Test(arguments: Stack.all)
    func aNewPlaceIsAddedBeforeTheLog(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let (john, jane) = try await host.world().pair()
            let group = try await john.group()
            for place in ["home", " Grandma's House ", "GRANDMA'S HOUSE"] {
                try await john.client.log(.init(groups: [group], location: place, thoughts: ""))
            }
            let names = try await jane.client.locations().filter { !$0.isDefault }.map(\.name)
            #expect(names == ["Grandma's House"])
            // The location is as the user who added it first sees it, at its place in the order.
            #expect(try await john.client.locations() == jane.client.locations())
            let places = try await john.entries(of: group).map(\.location)
            #expect(places == ["GRANDMA'S HOUSE", "Grandma's House", "home"])
        }
    }

    @Test func aPlaceThatCannotBeAddedDoesNotPreventALog() async throws {
        let mock = DeuceDiaryMock()
        mock.fail(DeuceDiary.CreateLocation.self, with: .badRequest, "Location limit reached")
        let logged = try await mock.client().log(
            .init(groups: [DeuceDiary.Group.example.id], location: "The Moon", thoughts: ""))
        #expect(logged.entries.map(\.location) == ["The Moon"])
    }

    @Test func aPlaceMayBeLeftOffTheList() async throws {
        let mock = DeuceDiaryMock()
        let logged = try await mock.client().log(
            .init(groups: [DeuceDiary.Group.example.id], location: "Dr. X's clinic", thoughts: ""), addingPlace: false)
        #expect(logged.entries.map(\.location) == ["Dr. X's clinic"])
        #expect(mock.requests(DeuceDiary.CreateLocation.self).isEmpty)
        #expect(mock.requests(DeuceDiary.ListLocations.self).isEmpty)
    }

    @Test func theListOfPlacesIsKept() async throws {
        let mock = DeuceDiaryMock()
        let diary = mock.client()
        for _ in 0..<3 { _ = try await diary.locations() }
        #expect(mock.requests(DeuceDiary.ListLocations.self).count == 1)
        _ = try await diary.locations(refresh: true)
        #expect(mock.requests(DeuceDiary.ListLocations.self).count == 2)
    }

    // MARK: Lists

    @Test(arguments: Stack.all)
    func deletedEntriesDoNotStopAList(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            var ids: [DeuceDiary.DeuceEntry.ID] = []
            for index in 0..<9 { ids.insert(try await john.log("\(index)", in: group)[0].id, at: 0) }
            var feed: [DeuceDiary.DeuceEntry.ID] = []
            for try await item in john.client.feed(pageSize: 3) {
                feed.append(item.id)
                // Removes the end of the page, and then all but its beginning.
                if feed.count == 3 { try await john.client.delete(ids[2]) }
                if feed.count == 6 { for id in ids[4...5] { try await john.client.delete(id) } }
            }
            #expect(feed == ids)
            let left = ids.filter { ![ids[2], ids[4], ids[5]].contains($0) }
            var entries: [DeuceDiary.DeuceEntry.ID] = []
            for try await entry in john.client.entries(of: group, pageSize: 2) {
                entries.append(entry.id)
                if entries.count == 4 { try await john.client.delete(left[3]) }
            }
            #expect(entries == left)
            // The page has no entry left from which the list could continue.
            let error = await #expect(throws: APIError.self) {
                for try await item in john.client.feed(pageSize: 2) where item.id == left[1] {
                    for id in left.prefix(2) { try await john.client.delete(id) }
                }
            }
            #expect(error?.message == "Invalid cursor")
        }
    }

    // MARK: Repeats

    /// The contract says: "Creating POSTs carry an Idempotency-Key and may be retried; other writes are not."
    @Test func onlySafeRequestsAreRepeated() async throws {
        func attempts(_ send: (DeuceDiaryClient) async throws -> Void) async -> (count: Int, keys: Set<String?>) {
            let flaky = Flaky()
            let client = DeuceDiaryClient(
                baseURL: URL(string: "http://test")!, transport: flaky,
                retry: Retry(attempts: 3, base: .zero, cap: .zero), token: { "t" })
            await #expect(throws: URLError.self) { try await send(client) }
            return (await flaky.keys.count, Set(await flaky.keys))
        }
        let get = await attempts { try await $0.send(DeuceDiary.ListGroups()) }
        #expect(get.count > 1)
        let log = await attempts { try await $0.send(DeuceDiary.LogDeuce(groups: ["g"], location: "x", thoughts: "")) }
        #expect(log.count == get.count)
        #expect(log.keys.count == 1 && log.keys.first != .some(nil))
        let rename = await attempts { try await $0.send(DeuceDiary.UpdateUser(username: "abc")) }
        let join = await attempts { try await $0.send(DeuceDiary.JoinGroup(invite: "x")) }
        let remove = await attempts { try await $0.send(DeuceDiary.RemoveReaction(entry: "e", emoji: "x")) }
        let leave = await attempts { try await $0.leave("g") }
        let delete = await attempts { try await $0.delete("e") }
        let account = await attempts { try await $0.deleteAccount() }
        let revoke = await attempts { try await $0.revoke("i") }
        for once in [rename, join, remove, leave, delete, account, revoke] { #expect(once.count == 1) }
    }

    /// A repeat is never sent with the token of a user who signed in meanwhile.
    @Test func aRequestStaysWithItsUser() async throws {
        func token(_ subject: String) -> String {
            "h." + Data(#"{"sub":"\#(subject)"}"#.utf8).base64EncodedString() + ".s"
        }
        let flaky = Flaky()
        let tokens = Tokens([token("john"), token("jane")])
        let client = DeuceDiaryClient(
            baseURL: URL(string: "http://test")!, transport: flaky, retry: Retry(attempts: 3, base: .zero, cap: .zero),
            token: { await tokens.next() })
        await #expect(throws: SignedOut.self) { try await client.send(DeuceDiary.GetUser()) }
        #expect(await flaky.keys.count == 1)
        // A newer token of the same user is used for the repeat.
        let renewed = Tokens([token("john"), token("john")])
        let mock = DeuceDiaryMock()
        mock.refuse(token: token("john"))
        let error = await #expect(throws: APIError.self) {
            try await mock.client(token: { await renewed.next() }).send(DeuceDiary.GetUser())
        }
        #expect(error?.status == .unauthorized)
    }

    /// A network that fails.
    private actor Flaky: Transport {
        private(set) var keys: [String?] = []

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            keys.append(request.headers[.idempotencyKey])
            throw URLError(.networkConnectionLost)
        }
    }
}
