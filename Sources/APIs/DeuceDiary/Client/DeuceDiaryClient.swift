import Contract
import ContractClient
import DeuceDiaryAPI
import Foundation
import HTTPTypes

/// The Deuce Diary API for an app.
///
/// ```swift
/// let diary = DeuceDiaryClient(baseURL: url) { try await session.token() }  // such as Clerk's session
/// let me = try await diary.send(DeuceDiary.GetUser())
/// let group = try await diary.send(DeuceDiary.CreateGroup(name: "Throne Room"))
/// try await diary.log(.init(groups: [group.id], location: "Home", thoughts: "A throne worthy of a king"))
/// ```
///
/// Failed requests are sent again when that cannot act twice. A client may be used from any task.
public struct DeuceDiaryClient: Sendable {
    /// The URL to which the contract's paths are appended.
    public let baseURL: URL
    private let client: Client<DeuceDiary>
    /// A client for writes that have no `Idempotency-Key` and must not be repeated.
    private let onceOnly: Client<DeuceDiary>
    private let knownLocations = KnownLocations()
    let transport: any Transport
    private let retry: Retry
    let outboxes = OpenOutboxes()
    let token: @Sendable () async throws -> String
    let sockets: any SocketTransport

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The server's URL, such as `https://api.deucediary.example.com`, without the `/api`.
    ///   - transport: Carries requests.
    ///   - sockets: Carries live connections. On Linux, where `URLSession` has none, pass `NIOSocketTransport()`.
    ///   - retry: The conditions under which a request that cannot act twice is sent again.
    ///   - token: Returns the signed-in user's bearer token. It is called for each request, so it should return quickly
    ///     when it has a valid token, and once more when the server refuses one. A request throws what it throws, such
    ///     as ``SignedOut``.
    public init(
        baseURL: URL, transport: any Transport = URLSessionTransport(),
        sockets: any SocketTransport = URLSessionSocketTransport(), retry: Retry = .standard,
        token: @escaping @Sendable () async throws -> String
    ) {
        func client(_ retry: Retry) -> Client<DeuceDiary> {
            Client(
                baseURL: baseURL, transport: transport, credentials: TokenProvider(provide: token), retry: retry)
        }
        self.baseURL = baseURL
        self.transport = transport
        self.retry = retry
        self.sockets = sockets
        self.token = token
        self.client = client(retry)
        onceOnly = client(.never)
    }

    /// Sends any request of the API.
    ///
    /// - Throws: ``APIError`` when it is refused, the network's error, the token provider's error.
    @discardableResult
    public func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == DeuceDiary {
        try await client(for: E.self).send(request)
    }

    /// Sends any request, and returns the answer with its status and headers.
    ///
    /// - Parameters:
    ///   - request: An operation of ``DeuceDiary``.
    ///   - idempotencyKey: A key with which a creating request can be repeated in another launch of the app without
    ///     acting twice.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> Answer<E.Output> where E.API == DeuceDiary {
        try await client(for: E.self).answer(request, idempotencyKey: idempotencyKey)
    }

    private func client<E: Contract.Endpoint>(for _: E.Type) -> Client<DeuceDiary> {
        E.route.method == .get || E.route.acceptsIdempotencyKey ? client : onceOnly
    }

    // MARK: The user

    /// Uploads a profile picture.
    ///
    /// - Parameters:
    ///   - picture: A picture from memory or from disk: up to 5 MiB of an `image/*` type.
    ///   - progress: Called with the bytes sent so far and in all.
    /// - Returns: The user with the new ``DeuceDiary/User/profileImageUrl``.
    public func uploadProfilePicture(
        _ picture: Upload, progress: UploadProgress? = nil
    ) async throws -> DeuceDiary.User {
        let answer = try await client.answer(DeuceDiary.UploadProfilePicture(picture), progress: progress)
        guard case .output(let user) = answer.content else { throw URLError(.cannotParseResponse) }
        return user
    }

    /// Returns the day with the most logs; nil before the first log.
    public func topDay() async throws -> DeuceDiary.TopDay? {
        try await send(DeuceDiary.GetMostDeuces()).topDay
    }

    /// Deletes the signed-in user's account for good, and what waits in the outboxes of this client. Sign out afterwards:
    /// this token is refused from now on.
    public func deleteAccount() async throws {
        try await send(DeuceDiary.DeleteUser())
        try await outboxes.wipe(of: nil)
    }

    // MARK: Groups

    /// Downloads an archive of all that the server keeps of the signed-in user, a ZIP file. It asks for one, waits until the
    /// server has made it, and continues a download that was interrupted. See ``DeuceDiary/RequestArchive``.
    ///
    /// - Parameters:
    ///   - destination: The place of the file, which appears there when it is whole; its folder exists.
    ///   - progress: Called with the bytes that are there so far and in all, from any thread.
    /// - Throws: `ArchiveFailed` when the server could not make it; `DownloadRefused`; the error of the disk; the errors of
    ///   ``send(_:)``.
    @discardableResult
    public func downloadArchive(
        to destination: URL, progress: DownloadProgress? = nil
    ) async throws -> DownloadedFile {
        try await ArchiveDownload(transport: transport, retry: retry).run(to: destination, progress: progress) {
            try await self.send(DeuceDiary.RequestArchive())
        } current: {
            try await self.send(DeuceDiary.GetArchive())
        }
    }

    /// The caller's groups, ordered by their newest entry, newest first. Pages are read as the sequence is iterated.
    public func groups(pageSize: Int = 100) -> Pages<DeuceDiary.GroupSummary, DeuceDiary.Group.ID?> {
        Pages(from: nil) { [client] before in
            let page = try await client.send(DeuceDiary.ListGroups(limit: pageSize, before: before))
            return (page, page.count < pageSize ? nil : page.last.map(\.id))
        }
    }

    /// A group's entries, newest first. Pages are read as the sequence is iterated.
    public func entries(
        of group: DeuceDiary.Group.ID, pageSize: Int = 50
    ) -> Pages<DeuceDiary.FeedEntry, [DeuceDiary.DeuceEntry.ID]> {
        Pages(of: pageSize) { [client] before in
            try await client.send(DeuceDiary.GetGroup(group: group, limit: pageSize, before: before)).entries
        }
    }

    /// The entries of all the caller's groups, or of one group, with their reactions, newest first. Pages are read as
    /// the sequence is iterated.
    ///
    /// - Parameters:
    ///   - group: The group; all of them when nil.
    ///   - pageSize: The number of entries read at a time, 1 to 100.
    public func feed(
        of group: DeuceDiary.Group.ID? = nil, pageSize: Int = 50
    ) -> Pages<DeuceDiary.FeedItem, [DeuceDiary.DeuceEntry.ID]> {
        Pages(of: pageSize) { [client] before in
            try await client.send(DeuceDiary.ListDeuces(group: group, limit: pageSize, before: before))
        }
    }

    /// Ends the caller's own membership. When the last member leaves, the group is deleted.
    public func leave(_ group: DeuceDiary.Group.ID) async throws { try await send(DeuceDiary.LeaveGroup(group: group)) }

    /// Revokes an invite that the caller has created, or may revoke as an admin. ``DeuceDiary/ListInvites`` lists them.
    public func revoke(_ invite: DeuceDiary.Invite.ID) async throws {
        try await send(DeuceDiary.RevokeInvite(invite: invite))
    }

    /// The result of accepting an invite.
    public enum Joining: Hashable, Sendable {
        case joined(DeuceDiary.Group)
        case alreadyMember(DeuceDiary.Group)

        /// The group of the invite.
        public var group: DeuceDiary.Group {
            switch self {
            case .joined(let group), .alreadyMember(let group): group
            }
        }
    }

    /// Accepts an invite. ``DeuceDiary/Invite/id(in:)`` returns the invite in a link.
    public func join(_ invite: DeuceDiary.Invite.ID) async throws -> Joining {
        let answer = try await send(DeuceDiary.JoinGroup(invite: invite))
        return answer.message == nil ? .joined(answer.group) : .alreadyMember(answer.group)
    }

    // MARK: Logging

    /// Returns the locations to choose from. They are cached by this client and its copies.
    ///
    /// - Parameter refresh: Whether to ask the server again.
    public func locations(refresh: Bool = false) async throws -> [DeuceDiary.Location] {
        if !refresh, let known = await knownLocations.list { return known }
        let list = try await send(DeuceDiary.ListLocations())
        await knownLocations.replace(list)
        return list
    }

    /// Logs. A location that is not in the shared list yet is added to it first.
    ///
    /// An error while adding the location does not prevent the log, because a log may have any text as its location.
    ///
    /// - Parameters:
    ///   - deuce: The entry, and the groups into which it goes.
    ///   - addingPlace: Pass false to keep a new location out of the list. The list is public: anyone can read it
    ///     without a token, with the id of the user who added a location.
    @discardableResult
    public func log(_ deuce: DeuceDiary.LogDeuce, addingPlace: Bool = true) async throws -> DeuceDiary.LoggedDeuce {
        guard addingPlace else { return try await send(deuce) }
        do { try deuce.validate() } catch { return try await send(deuce) }
        let place = deuce.location.trimmed
        let isKnown = try await locations().contains { $0.name.foldedForComparison == place.foldedForComparison }
        if !isKnown {
            do {
                await knownLocations.add(try await send(DeuceDiary.CreateLocation(name: place)))
            } catch let error as APIError where error.status == .badRequest {
                // Another user has added it meanwhile, or this user has reached the limit of locations.
            }
        }
        return try await send(deuce)
    }

    /// Removes an entry of the caller's from its group, also from a group that the caller has left.
    public func delete(_ entry: DeuceDiary.DeuceEntry.ID) async throws {
        try await send(DeuceDiary.DeleteDeuce(entry: entry))
    }
}

extension Pages where Element: Identifiable, Element.ID: Sendable, Cursor == [Element.ID] {
    /// Pages of a list. The cursor is the page before: when its last element has been deleted by the time the next page
    /// is read, the element before it is tried.
    init(of size: Int, _ read: @escaping @Sendable (_ before: Element.ID?) async throws -> [Element]) {
        self.init(from: []) { seen in
            var page: [Element]?
            var behind = seen[...]
            while page == nil {
                do {
                    page = try await read(behind.last)
                } catch let error as APIError where error.isInvalidCursor && behind.count > 1 {
                    behind.removeLast()
                }
            }
            let elements = page ?? []
            return (elements, elements.count < size ? nil : elements.map(\.id))
        }
    }
}

extension APIError {
    fileprivate var isInvalidCursor: Bool { status == .badRequest && message == "Invalid cursor" }
}

/// The list of locations as it was last read, with later additions.
private actor KnownLocations {
    private(set) var list: [DeuceDiary.Location]?

    func replace(_ list: [DeuceDiary.Location]) { self.list = list }

    /// Inserts a location at its place in the list's order.
    func add(_ location: DeuceDiary.Location) {
        guard let list else { return }
        let key = location.name.lowercased()
        let next = list.firstIndex { other in
            !other.isDefault && key.unicodeScalars.lexicographicallyPrecedes(other.name.lowercased().unicodeScalars)
        }
        self.list?.insert(location, at: next ?? list.endIndex)
    }
}
