import Contract
import ContractClient
import DeuceDiaryAPI
import Foundation
import HTTPTypes

/// The Deuce Diary API for an app.
///
/// ```swift
/// let diary = DeuceDiaryClient(baseURL: url) { try await session.token() }
/// let me = try await diary.send(DeuceDiary.GetUser())
/// let group = try await diary.send(DeuceDiary.CreateGroup(name: "Throne Room"))
/// try await diary.log(.init(groups: [group.id], location: "Home", thoughts: "A throne worthy of a king"))
/// ```
///
/// Requests that fail on the way are sent again where that cannot act twice. Safe to use from any task.
public struct DeuceDiaryClient: Sendable {
    public let baseURL: URL
    private let client: Client<DeuceDiary>
    /// For writes that carry no `Idempotency-Key`.
    private let onceOnly: Client<DeuceDiary>
    private let knownLocations = KnownLocations()
    let token: @Sendable () async throws -> String
    let sockets: any SocketTransport

    /// - Parameters:
    ///   - baseURL: Such as `https://api.deucediary.example.com`, without the `/api`.
    ///   - transport: Carries requests.
    ///   - sockets: Carries live connections. On Linux, where `URLSession` has none, pass `NIOSocketTransport()`.
    ///   - retry: When a request that cannot act twice is sent again.
    ///   - token: The bearer token of whoever is signed in. Asked for each request, so it should be quick when there is
    ///     a good one; asked once more when the server refuses one. What it throws, such as
    ///     ``SignedOut``, the request throws.
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
        self.sockets = sockets
        self.token = token
        self.client = client(retry)
        onceOnly = client(.never)
    }

    /// Sends any request of the API.
    ///
    /// - Throws: ``APIError`` when it is refused, the network's error, what the token provider throws.
    @discardableResult
    public func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == DeuceDiary {
        try await client(for: E.self).send(request)
    }

    /// Sends any request, and returns the answer with its status and headers.
    ///
    /// - Parameters:
    ///   - request: Any of the API's.
    ///   - idempotencyKey: To repeat a creating request in another launch of the app without doing it twice.
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
    ///   - picture: From memory or from disk: up to 5 MiB of an `image/*` type.
    ///   - progress: Told how much is on its way, in bytes.
    /// - Returns: The user, whose ``DeuceDiary/User/profileImageUrl`` is new.
    public func uploadProfilePicture(
        _ picture: Upload, progress: UploadProgress? = nil
    ) async throws -> DeuceDiary.User {
        let answer = try await client.answer(DeuceDiary.UploadProfilePicture(picture), progress: progress)
        guard case .output(let user) = answer.content else { throw URLError(.cannotParseResponse) }
        return user
    }

    /// The day with the most logs; nil before the first.
    public func topDay() async throws -> DeuceDiary.TopDay? {
        try await send(DeuceDiary.GetMostDeuces()).topDay
    }

    /// Deletes the account of whoever is signed in, for good. Sign out then: this token is refused from now on.
    public func deleteAccount() async throws { try await send(DeuceDiary.DeleteUser()) }

    // MARK: Groups

    /// The caller's groups, the one with the newest entry first, a page at a time as they are asked for.
    public func groups(pageSize: Int = 100) -> Pages<DeuceDiary.GroupSummary, DeuceDiary.Group.ID?> {
        Pages(from: nil) { [client] before in
            let page = try await client.send(DeuceDiary.ListGroups(limit: pageSize, before: before))
            return (page, page.count < pageSize ? nil : page.last.map(\.id))
        }
    }

    /// A group's entries, newest first, a page at a time as they are asked for.
    public func entries(
        of group: DeuceDiary.Group.ID, pageSize: Int = 50
    ) -> Pages<DeuceDiary.FeedEntry, [DeuceDiary.DeuceEntry.ID]> {
        Pages(of: pageSize) { [client] before in
            try await client.send(DeuceDiary.GetGroup(group: group, limit: pageSize, before: before)).entries
        }
    }

    /// The entries of all the caller's groups, or of one, with their reactions: newest first, a page at a time as they are
    /// asked for.
    ///
    /// - Parameters:
    ///   - group: All of them when nil.
    ///   - pageSize: 1 to 100.
    public func feed(
        of group: DeuceDiary.Group.ID? = nil, pageSize: Int = 50
    ) -> Pages<DeuceDiary.FeedItem, [DeuceDiary.DeuceEntry.ID]> {
        Pages(of: pageSize) { [client] before in
            try await client.send(DeuceDiary.ListDeuces(group: group, limit: pageSize, before: before))
        }
    }

    /// Ends the caller's own membership. The last member's leaving deletes the group.
    public func leave(_ group: DeuceDiary.Group.ID) async throws { try await send(DeuceDiary.LeaveGroup(group: group)) }

    /// Ends an invite, which the caller has made or may end as an admin. ``DeuceDiary/ListInvites`` lists them.
    public func revoke(_ invite: DeuceDiary.Invite.ID) async throws {
        try await send(DeuceDiary.RevokeInvite(invite: invite))
    }

    /// What became of an invite.
    public enum Joining: Hashable, Sendable {
        case joined(DeuceDiary.Group)
        case alreadyMember(DeuceDiary.Group)

        public var group: DeuceDiary.Group {
            switch self {
            case .joined(let group), .alreadyMember(let group): group
            }
        }
    }

    /// Accepts an invite. For a link see ``DeuceDiary/Invite/id(in:)``.
    public func join(_ invite: DeuceDiary.Invite.ID) async throws -> Joining {
        let answer = try await send(DeuceDiary.JoinGroup(invite: invite))
        return answer.message == nil ? .joined(answer.group) : .alreadyMember(answer.group)
    }

    // MARK: Logging

    /// The locations to choose from. Kept for as long as this client and its copies are.
    ///
    /// - Parameter refresh: Asks the server again.
    public func locations(refresh: Bool = false) async throws -> [DeuceDiary.Location] {
        if !refresh, let known = await knownLocations.list { return known }
        let list = try await send(DeuceDiary.ListLocations())
        await knownLocations.replace(list)
        return list
    }

    /// Logs, after adding a location that nobody has used yet to the list for everybody.
    ///
    /// That a location cannot be added keeps nothing from being logged: any text is a place.
    ///
    /// - Parameters:
    ///   - deuce: What is logged, and into which groups.
    ///   - addingPlace: False keeps a new location off the list, which is public: anybody can read it without a token,
    ///     with the id of its maker.
    @discardableResult
    public func log(_ deuce: DeuceDiary.LogDeuce, addingPlace: Bool = true) async throws -> DeuceDiary.LoggedDeuce {
        guard addingPlace else { return try await send(deuce) }
        do { try deuce.validate() } catch { return try await send(deuce) }
        let place = deuce.location.trimmingCharacters(in: .whitespacesAndNewlines)
        let isKnown = try await locations().contains { $0.name.lowercased() == place.lowercased() }
        if !isKnown {
            do {
                await knownLocations.add(try await send(DeuceDiary.CreateLocation(name: place)))
            } catch let error as APIError where error.status == .badRequest {
                // Somebody else was faster, or one's own places are at their limit.
            }
        }
        return try await send(deuce)
    }

    /// Removes one's own entry from its group, after one has left it too.
    public func delete(_ entry: DeuceDiary.DeuceEntry.ID) async throws {
        try await send(DeuceDiary.DeleteDeuce(entry: entry))
    }
}

extension Pages
where Element: Identifiable, Element.ID == DeuceDiary.DeuceEntry.ID, Cursor == [DeuceDiary.DeuceEntry.ID] {
    /// Pages of entries. The cursor is the page before: when its last entry is deleted by the time the next page is asked
    /// for, that goes on behind the one before it.
    fileprivate init(
        of size: Int, _ read: @escaping @Sendable (_ before: DeuceDiary.DeuceEntry.ID?) async throws -> [Element]
    ) {
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
            let entries = page ?? []
            return (entries, entries.count < size ? nil : entries.map(\.id))
        }
    }
}

extension APIError {
    fileprivate var isInvalidCursor: Bool { status == .badRequest && message == "Invalid cursor" }
}

/// The location list as it was read last, with what was added since.
private actor KnownLocations {
    private(set) var list: [DeuceDiary.Location]?

    func replace(_ list: [DeuceDiary.Location]) { self.list = list }

    /// At its place in the order of the list.
    func add(_ location: DeuceDiary.Location) {
        guard let list else { return }
        let key = location.name.lowercased()
        let next = list.firstIndex { other in
            !other.isDefault && key.unicodeScalars.lexicographicallyPrecedes(other.name.lowercased().unicodeScalars)
        }
        self.list?.insert(location, at: next ?? list.endIndex)
    }
}
