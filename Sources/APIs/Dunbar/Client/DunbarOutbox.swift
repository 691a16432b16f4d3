import Contract
import ContractClient
import DunbarAPI
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The posts of an account that the server does not have yet. ``DunbarClient/outbox(of:in:limits:)`` opens it.
public typealias DunbarOutbox = DurableOutbox<DunbarClient.OutgoingPost>

extension DunbarClient {
    /// A post that waits in an outbox. Its pictures and videos are the item's files.
    public struct OutgoingPost: Codable, Hashable, Sendable {
        /// The text.
        public let content: String
    }

    /// Opens the outbox of the signed-in user, and begins to send what waits in it. Keep one for as long as the user is signed
    /// in. ``signOut()`` and ``deleteAccount(password:)`` wipe the outboxes that this client has opened.
    ///
    /// - Parameters:
    ///   - user: The signed-in user. While another one is signed in, nothing is sent: the server is asked once for each session
    ///     whose it is.
    ///   - folder: A folder for the outboxes of this server. It need not exist.
    ///   - limits: The bounds of the outbox.
    /// - Throws: The disk's error.
    public func outbox(
        of user: Dunbar.User.ID, in folder: URL, limits: OutboxLimits = .standard
    ) async throws -> DunbarOutbox {
        var settings = outboxSettings(of: user)
        settings.limits = limits
        return try await open(of: user, in: folder, settings: settings)
    }

    /// Opens an outbox with other settings.
    package func open(
        of user: Dunbar.User.ID, in folder: URL, settings: OutboxSettings<OutgoingPost>,
        pacing: LiveConnection.Pacing = .standard
    ) async throws -> DunbarOutbox {
        let outbox = try await DunbarOutbox.open(
            of: user.description, in: folder, settings: settings, pacing: pacing)
        outboxes.add(outbox)
        return outbox
    }

    package func outboxSettings(of user: Dunbar.User.ID) -> OutboxSettings<OutgoingPost> {
        let owner = CookieOwner(user: user)
        let transport = transportAccepting { [baseURL, transportAccepting] request, cookies in
            // Only the post needs the session.
            guard request.method == .post else { return }
            try await owner.check(cookies) {
                let transport = transportAccepting { _, sent in
                    guard sent == cookies else { throw SignedOut() }
                }
                return Client<Dunbar>(baseURL: baseURL, transport: transport, retry: .never)
            }
        }
        // The outbox repeats by itself.
        let client = Client<Dunbar>(baseURL: baseURL, transport: transport, retry: .never)
        // An hour less than the server's: clocks differ.
        return .init(
            keyLifetime: { _ in .seconds((Dunbar.CreatePost.route.keyHours - 1) * 3600) },
            deliver: { delivery in
                let request = Dunbar.CreatePost(content: delivery.content.content, media: delivery.files)
                do {
                    _ = try await client.answer(request, idempotencyKey: delivery.key, progress: delivery.progress)
                } catch APIError.networkUnavailable {
                    throw URLError(.notConnectedToInternet)
                }
            })
    }
}

extension DurableOutbox where Content == DunbarClient.OutgoingPost {
    /// Publishes a post as soon as there is a network. The server dates it when it arrives; until then
    /// ``OutboxItem/createdAt`` is its time.
    ///
    /// - Parameters:
    ///   - content: The text: at most 5,000 characters.
    ///   - media: At most ten files, of at most 50 MiB each. The outbox copies them.
    /// - Returns: The post as it waits. It is on the disk.
    /// - Throws: ``APIError`` for a post that the server would refuse, ``OutboxFull``, the disk's error.
    @discardableResult
    public func post(_ content: String, media: [Upload] = []) throws -> OutboxItem<DunbarClient.OutgoingPost> {
        do {
            try Dunbar.CreatePost(content: content, media: media).validate()
        } catch {
            throw APIError(ContractClient.APIError(error))
        }
        return try add(.init(content: content), files: media)
    }
}

/// Makes sure that a session's cookies are those of one user.
private actor CookieOwner {
    private let user: Dunbar.User.ID
    private var known: String?

    init(user: Dunbar.User.ID) { self.user = user }

    /// - Parameter client: Returns a client that sends these cookies and no others.
    /// - Throws: `SignedOut` when the cookies are another user's; the network's error.
    func check(_ cookies: String?, _ client: () -> Client<Dunbar>) async throws {
        guard let cookies else { throw SignedOut() }
        guard cookies != known else { return }
        let me: Dunbar.Account
        do {
            me = try await client().send(Dunbar.GetCurrentUser()).user
        } catch let error as ContractClient.APIError where error.status == .unauthorized {
            throw SignedOut()
        }
        guard me.id == user else { throw SignedOut() }
        known = cookies
    }
}
