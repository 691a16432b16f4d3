import ContractCheck
import DunbarClient
import DunbarMocks
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import DunbarCheck

/// The samples work on a real server. Those of Testing.md are tests themselves.
@Suite(.timeLimit(.minutes(30))) struct DunbarSampleRuns {
    private static let stack = Stack(.sqlite, .live)

    private func picture(_ name: String, in host: DunbarHost) throws -> URL {
        let url = URL(fileURLWithPath: host.folder).appendingPathComponent(name)
        try Data(SampleImage.jpeg(width: 16, height: 16)).write(to: url)
        return url
    }

    @Test func overview() async throws {
        try await withDunbar(on: Self.stack) { host in
            let john = try await host.world().person("jdoe")
            let photo = try picture("a.jpg", in: host)
            var shown: [String] = []
            let me = try await OverviewSamples.begin(host.baseURL, photo: photo) { shown.append($0.content) }
            #expect(me.id == john.id)
            #expect(shown == ["Hello world"])
        }
    }

    @Test func signingIn() async throws {
        try await withDunbar(on: Self.stack) { host in
            let dunbar = SigningInSamples.client(host.baseURL)
            var shown: [String] = []
            func start() async throws -> String {
                var screen = ""
                try await SigningInSamples.start(dunbar) {
                    screen = "feed of \($0.username)"
                } showSignIn: {
                    screen = "sign in"
                } show: {
                    screen = $0
                }
                return screen
            }
            #expect(try await start() == "sign in")
            try await SigningInSamples.register(dunbar) { shown.append($0) }
            #expect(try await start() == "feed of jdoe")
            try await SigningInSamples.remind(dunbar) { shown.append($0) }
            let email = try #require(try await host.world().operator?.emails("john@example.com").last)
            let link = try #require(email.firstMatch(of: #/http:\S+/#)).output
            let url = try #require(URL(string: String(link)))
            try await EmailLinkOpener(dunbar: dunbar).open(url)
            try await SigningInSamples.remind(dunbar) { shown.append($0) }
            try await SigningInSamples.move(dunbar, to: "j@example.org", password: "secret123")
            try await SigningInSamples.sessions(dunbar, password: "secret123") { (_: Any?...) in }
            try await SigningInSamples.change(dunbar, password: "secret123", newPassword: "another one")
            try await SigningInSamples.change(dunbar, password: "another one", newPassword: "secret123")
            try await withTemporaryFolder { folder in
                let place = URL(fileURLWithPath: folder + "/archive.zip")
                try await SigningInSamples.archive(dunbar, to: place) { #expect($0 == place) }
            }
            try await SigningInSamples.signOut(dunbar)
            for password in ["secret124", "secret123"] {
                try await SigningInSamples.load(dunbar) { _ in
                    shown.append("a feed")
                } showSignIn: {
                    shown.append("sign in")
                }
                try await SigningInSamples.signIn(dunbar, password: password) {
                    shown.append("feed of \($0.username)")
                } show: {
                    shown.append($0)
                }
            }
            try await SigningInSamples.load(dunbar) {
                shown.append("\($0.count) posts")
            } showSignIn: {
                shown.append("sign in")
            }
            #expect(
                shown == [
                    "Please check your email to verify your account", "Look into your mailbox.", "sign in",
                    "That is not your password.", "sign in", "feed of jdoe", "0 posts",
                ])
        }
        let asleep = DunbarMock()
        asleep.fail(Dunbar.CheckHealth.self, with: .serviceUnavailable, "Unhealthy")
        var screen = ""
        try await SigningInSamples.start(asleep.client()) { _ in
        } showSignIn: {
        } show: {
            screen = $0
        }
        #expect(screen == "The server is still waking up.")
    }

    @Test func following() async throws {
        try await withDunbar(on: Self.stack) { host in
            let world = host.world()
            let (john, sarah, other) = (
                try await world.person("jdoe"), try await world.person("sarah"), try await world.person("other")
            )
            var shown: [String] = []
            func look() async throws {
                try await FollowingSamples.search(john.client) { shown.append("\($0.username): \($1)") }
            }
            func follow() async throws {
                try await FollowingSamples.follow(john.client, sarah: sarah.id) { shown.append($0) }
            }
            try await look()
            try await follow()
            try await look()
            try await follow()
            try await other.client.follow(sarah.id)
            try await FollowingSamples.answer(sarah.client) { $0.id == john.id }
            try await look()
            #expect(try await other.flags(of: sarah) == [false, false])
            try await FollowingSamples.followers(sarah.client, me: sarah.id) { $0.id != john.id }
            try await look()
            try await FollowingSamples.open(sarah.client, me: sarah.id)
            try await follow()
            try await FollowingSamples.unfollow(john.client, sarah: sarah.id)
            try await look()
            #expect(try await FollowingSamples.block(john.client, sarah: sarah.id).map(\.id) == [sarah.id])
            #expect(
                shown == [
                    "sarah: Follow", "She has been asked.", "sarah: Requested",
                    "Already following or requested to follow this user", "sarah: Following", "sarah: Follow",
                    "You see her posts from now on.", "sarah: Follow",
                ])
        }
    }

    @Test func posts() async throws {
        try await withDunbar(on: Self.stack) { host in
            let john = try await host.world().person()
            let files = try [picture("a.jpg", in: host), picture("b.jpg", in: host)]
            let told = NIOLockedValueBox<[Double]>([])
            let post = try await PostsSamples.post(john.client, files: files) { share in
                told.withLockedValue { $0.append(share) }
            }
            #expect(post.media.count == 2)
            #expect(told.withLockedValue { $0.last } == 1)
            let draft = Draft(text: "once")
            let first = try await deliver(draft, with: john.client)
            let second = try await deliver(draft, with: john.client)
            #expect(first != nil && first == second)
            var comments: [String] = []
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let outbox = try await PostsSamples.keep(john.client, me: john.id, media: [], in: folder) { _ in }
            try await outbox.becomeEmpty()
            #expect(try await john.client.send(Dunbar.ListUserPosts(user: john.id)).count == 3)
            try await PostsSamples.comment(john.client, post: post) { comments.append($0.content) }
            #expect(comments == ["Great picture!"])
            try await PostsSamples.delete(john.client, post: post)
            let left = try await john.feed().map(\.id)
            #expect(left.count == 2 && left.last == first)
            // The URL works without a session for any client that has it, and keeps its path.
            let text = try #require(try await PostsSamples.photo(john.client, file: files[0], me: john.id))
            let photo = try #require(URL(string: text))
            #expect(photo.pathExtension == "jpg")
            let fetched = try await host.transport.send(TransportRequest(method: .get, url: photo), progress: nil)
            #expect(fetched.status == .ok)
            #expect(fetched.body.starts(with: [0xFF, 0xD8]))
        }
    }

    @Test func feed() async throws {
        try await withDunbar(on: Self.stack) { host in
            let sarah = try await host.world().person()
            for index in 0..<45 { try await sarah.publish("\(index)") }
            let all = (0..<45).reversed().map(String.init)
            var shown: [String] = []
            try await FeedSamples.read(sarah.client, enough: 30) { shown.append($0.content) }
            #expect(shown == Array(all.prefix(30)))
            shown = []
            try await FeedSamples.profile(sarah.client, sarah: sarah.id) { shown.append($0.content) }
            #expect(shown == all)
            let model = await FeedModel(sarah.client)
            try await model.refresh()
            for _ in 0..<3 { try await model.more() }
            #expect(await model.posts.map(\.content) == all)
            #expect(await model.isComplete)
        }
    }

    @Test func errors() async throws {
        try await withDunbar(on: Self.stack) { host in
            let john = try await host.world().person()
            let mock = DunbarMock()
            var shown: [String] = []
            func post(_ text: String, with dunbar: DunbarClient) async throws {
                try await ErrorsSamples.post(dunbar, text: text) {
                    shown.append($0)
                } offer: {
                    shown.append("again?")
                } showSignIn: {
                    shown.append("sign in")
                }
            }
            try await post("Hello", with: john.client)
            try await post(" ", with: john.client)
            try await john.client.signOut()
            try await post("Hello", with: john.client)
            mock.fail(Dunbar.CreatePost.self, with: .serviceUnavailable, "Service unavailable", times: 1)
            try await post("Hello", with: mock.client())
            mock.offline()
            try await post("Hello", with: mock.client())
            ErrorsSamples.form(text: "") { shown.append($0) }
            ErrorsSamples.form(text: "Hello") { shown.append($0) }
            ErrorsSamples.watch { shown.append($0) }
            #expect(
                shown == [
                    "Post must have content or media", "sign in", "Service unavailable", "again?",
                    "The server is currently unavailable. It may be waking up, please try again.", "again?",
                    "Post must have content or media",
                ])
            let user = try await ErrorsSamples.patient(host.baseURL, store: MemoryCookieStore()).currentUser()
            #expect(user == nil)
        }
    }
}
