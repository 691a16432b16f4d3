import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import EventBus
import HTTPTypes
import NIOCore
import WebSockets

/// What a socket listens to.
enum LiveTopic: Hashable, Sendable {
    case group(DeuceDiary.Group.ID)
    /// The socket's own user, where it has one.
    case user(DeuceDiary.User.ID)
}

enum LiveEvent: Sendable {
    /// Of a group.
    case logged(TextFrame)
    /// Of a user, who is no member of this group any more.
    case left(DeuceDiary.Group.ID)
    /// Of a user, whose tokens up to that time, in Unix seconds, are of an account that was deleted.
    case deleted(issuedUntil: Int64)
    /// Something may have been missed.
    case gap
}

typealias LiveHub = Hub<LiveTopic, LiveEvent>

/// What happened, for the sockets of every node.
enum LiveNews: Codable, Sendable {
    case logged([DeuceDiary.DeuceEntry], by: DeuceDiary.User)
    /// More than can be carried: each node reads it.
    case log(String)
    case left(Membership)
    case deleted(DeuceDiary.User.ID, issuedUntil: Int64)
}

/// Somebody's membership of a group.
struct Membership: Codable, Hashable, Sendable {
    let user: DeuceDiary.User.ID
    let group: DeuceDiary.Group.ID
}

extension LiveHub {
    /// Tells the sockets of this node.
    func deliver(_ news: LiveNews) {
        switch news {
        case .logged(let entries, let user):
            for entry in entries {
                let notice = DeuceDiary.Notice(.init(entry, by: user))
                publish(to: .group(entry.groupId)) {
                    .logged(TextFrame(notice))
                }
            }
        case .log: break
        case .left(let membership): publish(to: .user(membership.user)) { .left(membership.group) }
        case .deleted(let user, let issuedUntil): publish(to: .user(user)) { .deleted(issuedUntil: issuedUntil) }
        }
    }
}

extension DeuceDiaryService {
    /// Returns the live socket.
    public func sockets() -> [SocketRoute] {
        let proxies = settings.trustedProxies
        var limits = SocketLimits()
        limits.pingInterval = .seconds(30)
        // By then two pings have been left unanswered.
        limits.idleTimeout = .seconds(90)
        return [
            SocketRoute(path: "/ws", limits: limits) { request, peer in
                await admit(request, from: ClientAddress(peer: peer, headers: request.headerFields, trusting: proxies))
            }
        ]
    }

    /// Accepts a socket without a token where sockets are open. One that offers a token is held to it in either mode.
    private func admit(_ request: HTTPRequest, from address: ClientAddress) async -> SocketAdmission {
        do {
            guard let token = Self.token(of: request) else {
                guard settings.socketAuthentication == .open else { throw IssuerAccounts.unauthorized }
                try await count(address)
                return .accept { GroupSocket(service: self, from: address, caller: nil) }
            }
            let caller = try await self.caller(token, from: address)
            try await count(caller)
            return .accept { GroupSocket(service: self, from: address, caller: caller) }
        } catch {
            let problem = error as? Problem ?? .unavailable(error, DeuceDiary.errorMessages)
            return .refuse(
                problem ?? Problem(.internalServerError, DeuceDiary.errorMessages.internalError), in: DeuceDiary.self)
        }
    }

    /// The token that a handshake offers: in its header, or in its URL for clients that can set no header.
    private static func token(of request: HTTPRequest) -> String? {
        if let token = request.headerFields.bearerToken { return token }
        let query = request.path?.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return FormURLEncoded.items(query).first { $0.name == "token" }?.value
    }

    /// Receives the events of other nodes, until the task is cancelled. One task for each node.
    ///
    /// - Parameter started: Called when every event from then on will be received: at first, and after each gap, once
    ///   sockets that may have missed something are closed. Never where there is one node.
    public func listen(_ started: @escaping @Sendable () -> Void = {}) async {
        await announcer.listen { [database] news in
            guard case .log(let log) = news else { return news }
            return try await database.read { db in
                let entries = try Entries.all(of: log, in: db)
                // None: they have gone since.
                guard let author = entries.first?.userId, let user = try Users.one(author, for: nil, in: db) else {
                    return nil
                }
                return .logged(entries, by: user)
            }
        } gap: { [hub] in
            hub.broadcast { .gap }
            started()
        }
    }

    /// Whether somebody is a member, as was found within the last second.
    func isMember(_ membership: Membership) async throws -> Bool {
        try await memberships.check(membership) {
            try await database.read { try Groups.isMember(membership.user, of: membership.group, in: $0) }
        }
    }
}
