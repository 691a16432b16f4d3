import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import EventBus
import HTTPTypes
import NIOCore
import WebSockets

/// A topic to which sockets subscribe.
enum LiveTopic: Hashable, Sendable {
    case group(DeuceDiary.Group.ID)
    /// The socket's own user, if it has a caller.
    case user(DeuceDiary.User.ID)
}

enum LiveEvent: Sendable {
    /// An entry was logged in the group of the topic.
    case logged(TextFrame)
    /// The user of the topic is no longer a member of this group.
    case left(DeuceDiary.Group.ID)
    /// The account of the topic's user was deleted. Tokens issued up to that time, in Unix seconds, belong to it.
    case deleted(issuedUntil: Int64)
    /// The account of the topic's user was suspended.
    case suspended
    /// Events may have been missed.
    case gap
}

typealias LiveHub = Hub<LiveTopic, LiveEvent>

/// An event for the sockets of every node.
enum LiveAnnouncement: Codable, Sendable {
    case logged(DeuceDiary.DeuceEntry, by: DeuceDiary.User)
    /// An entry that is too long to be announced whole: each node reads it.
    case entry(DeuceDiary.DeuceEntry.ID)
    case left(Membership)
    /// An account was deleted, or an operator has signed its user out.
    case deleted(DeuceDiary.User.ID, issuedUntil: Int64)
    case suspended(DeuceDiary.User.ID)
}

/// A user's membership of a group.
struct Membership: Codable, Hashable, Sendable {
    let user: DeuceDiary.User.ID
    let group: DeuceDiary.Group.ID
}

extension LiveHub {
    /// Sends an event to the sockets of this node.
    func deliver(_ news: LiveAnnouncement) {
        switch news {
        case .logged(let entry, let user):
            publish(to: .group(entry.groupId)) { .logged(TextFrame(DeuceDiary.Notice(.init(entry, by: user)))) }
        case .entry: break
        case .left(let membership): publish(to: .user(membership.user)) { .left(membership.group) }
        case .deleted(let user, let issuedUntil): publish(to: .user(user)) { .deleted(issuedUntil: issuedUntil) }
        case .suspended(let user): publish(to: .user(user)) { .suspended }
        }
    }
}

extension DeuceDiaryService {
    /// Returns the live socket.
    public func sockets() -> [SocketRoute] {
        let proxies = settings.trustedProxies
        var limits = SocketLimits()
        limits.pingInterval = .seconds(30)
        // Two pings are unanswered by then.
        limits.idleTimeout = .seconds(90)
        return [
            SocketRoute(path: "/ws", limits: limits) { request, peer in
                let address = ClientAddress(peer: peer, headers: request.headerFields, trusting: proxies)
                return await self.admit(request, from: address)
            }
        ]
    }

    /// Accepts a socket without a token where sockets are open. A token that is offered is checked in either mode.
    private func admit(_ request: HTTPRequest, from address: ClientAddress) async -> SocketAdmission {
        do {
            guard let token = Self.token(of: request) else {
                guard settings.socketAuthentication == .open else { throw IssuerAccounts.unauthorized }
                try await count(address)
                return .accept { GroupSocket(self, from: address, caller: nil) }
            }
            let caller = try await self.caller(token, from: address)
            try await count(caller)
            return .accept { GroupSocket(self, from: address, caller: caller) }
        } catch {
            let problem = error as? Problem ?? .unavailable(error, DeuceDiary.errorMessages)
            return .refuse(
                problem ?? Problem(.internalServerError, DeuceDiary.errorMessages.internalError), in: DeuceDiary.self)
        }
    }

    /// Returns the token of a handshake: from its header, or from its URL for clients that cannot set a header.
    private static func token(of request: HTTPRequest) -> String? {
        if let token = request.headerFields.bearerToken { return token }
        let query = request.path?.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return FormURLEncoded.items(query).first { $0.name == "token" }?.value
    }

    /// Receives the events of other nodes until the task is cancelled. Each node runs one such task.
    ///
    /// - Parameter started: Called once no later event can be missed: at the start, and after each gap when the sockets that
    ///   may have missed events are closed. It is never called where there is only one node.
    public func listen(_ started: @escaping @Sendable () -> Void = {}) async {
        await publisher.listen { [database] news in
            guard case .entry(let id) = news else { return news }
            return try await database.read { db in
                // The entry may have been deleted since.
                guard let entry = try Entries.one(id, in: db), let user = try Users.one(entry.userId, for: nil, in: db)
                else { return nil }
                return .logged(entry, by: user)
            }
        } gap: { [hub] in
            hub.broadcast { .gap }
            started()
        }
    }

    /// Returns whether a user is a member. The answer may be a second old.
    func isMember(_ membership: Membership) async throws -> Bool {
        try await memberships.check(membership) {
            try await database.read { try Groups.isMember(membership.user, of: membership.group, in: $0) }
        }
    }
}
