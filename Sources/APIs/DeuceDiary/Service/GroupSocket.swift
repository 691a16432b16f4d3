import Backend
import Contract
import ContractServer
import DeuceDiaryAPI
import EventBus
import Foundation
import NIOCore
import WebSockets

/// One client on `/ws`, which is subscribed to one group at a time. It lives on its event loop.
///
/// Without a caller it follows the contract: it checks nothing and answers nothing. With a caller, only members receive a
/// group's entries, until the caller's token expires. The client may send a newer token over the socket.
final class GroupSocket: SocketHandler {
    /// The maximum number of frames and events that wait while the database is read. A socket with more is closed.
    static let maximumWaiting = 256
    /// The maximum length of a token in bytes. A longer one is invalid.
    static let maximumToken = 4096

    private let service: DeuceDiaryService
    private let address: ClientAddress
    private var caller: Caller?
    private var socket: (any SocketConnection)?
    private var tasks: SerialQueue?
    private var group: DeuceDiary.Group.ID?
    /// The groups whose membership is being checked. Their events are received already, and wait.
    private var unchecked: [DeuceDiary.Group.ID] = []
    private var expiry: Scheduled<Void>?

    init(_ service: DeuceDiaryService, from address: ClientAddress, caller: Caller?) {
        self.service = service
        self.address = address
        self.caller = caller
    }

    func opened(_ socket: any SocketConnection) {
        self.socket = socket
        tasks = SerialQueue(on: socket.eventLoop)
        guard let caller else { return }
        service.hub.subscribe(self, to: .user(caller.user), on: socket.eventLoop)
        begin(as: caller, on: socket)
    }

    /// Lets the socket live as long as the caller's token.
    private func begin(as caller: Caller, on socket: any SocketConnection) {
        self.caller = caller
        expiry?.cancel()
        // The account may have been deleted or suspended after its token was checked and before this socket subscribed to
        // that event.
        if service.accounts.isDeleted(caller) || service.accounts.wasJustSuspended(caller.user) { return end() }
        let this = NIOLoopBound(self, eventLoop: socket.eventLoop)
        let left = max(0, caller.claims.expiresAt - service.time.seconds)
        expiry = socket.eventLoop.scheduleTask(in: .seconds(left)) {
            this.value.end()
        }
    }

    private func end() { socket?.close(.sessionEnded, reason: "Session ended") }

    func receivedBinary(_ count: Int) {}

    func closed() {
        expiry?.cancel()
        tasks?.end()
        for group in Set(unchecked + (group.map { [$0] } ?? [])) { stopListening(to: group) }
        if let caller, let socket {
            service.hub.unsubscribe(self, from: .user(caller.user), on: socket.eventLoop)
        }
        socket = nil
    }

    // MARK: Joining

    func received(_ text: ByteBuffer) {
        let bytes = text.readableBytesView
        guard JSONShape.isObject(bytes),
            let frame = try? DeuceDiary.clientFrames.decode(Data(bytes))
        else { return }
        switch frame {
        case let frame as DeuceDiary.WatchGroup:
            // No group has another id, and long texts must not be kept here.
            let known = frame.group.isUUID ? frame.group : nil
            if let caller { checkAndJoin(known, as: caller) } else { join(known) }
        case let frame as DeuceDiary.Authenticate:
            // A socket without a token follows the contract, which does not have this frame.
            guard caller != nil else { return }
            let token = frame.token.utf8.count <= Self.maximumToken ? frame.token : ""
            turn { $0.renew(by: token) }
        default: break
        }
    }

    /// Replaces the token by a newer one of the same user. A refused token changes nothing.
    private func renew(by token: String) {
        tasks?.work { [service, address] in
            try await service.caller(token, from: address)
        } then: { result in
            guard let socket = self.socket else { return }
            switch result {
            case .success(let newer) where newer.user == self.caller?.user: self.begin(as: newer, on: socket)
            case .success: self.refuse(IssuerAccounts.invalidToken.message)
            case .failure(let error):
                self.refuse((error as? Problem)?.message ?? DeuceDiary.errorMessages.unavailable)
            }
        }
    }

    private func join(_ group: DeuceDiary.Group.ID?) {
        if let old = self.group, old != group { stopListening(to: old) }
        self.group = group
        if let group { listen(to: group) }
    }

    private func checkAndJoin(_ group: DeuceDiary.Group.ID?, as caller: Caller) {
        guard let group else { return turn { $0.refuse("Invalid groupId") } }
        unchecked.append(group)
        listen(to: group)
        turn { this in
            let membership = Membership(user: caller.user, group: group)
            this.tasks?.work { [service = this.service] in
                try await service.isMember(membership)
            } then: { result in
                this.answer(result, to: group)
            }
        }
    }

    private func answer(_ result: Result<Bool, any Error>, to group: DeuceDiary.Group.ID) {
        if let index = unchecked.firstIndex(of: group) { unchecked.remove(at: index) }
        if case .success(true) = result { return join(group) }
        if self.group != group, !unchecked.contains(group) { stopListening(to: group) }
        if case .success = result {
            refuse("Not a member of this group")
        } else {
            socket?.close(.tryAgainLater, reason: DeuceDiary.errorMessages.unavailable)
        }
    }

    private func listen(to group: DeuceDiary.Group.ID) {
        guard let socket else { return }
        service.hub.subscribe(self, to: .group(group), on: socket.eventLoop)
    }

    private func stopListening(to group: DeuceDiary.Group.ID) {
        guard let socket else { return }
        service.hub.unsubscribe(self, from: .group(group), on: socket.eventLoop)
    }

    private func refuse(_ message: String) { socket?.send(TextFrame(DeuceDiary.LiveError(message: message))) }

    private func turn(_ action: @escaping (GroupSocket) -> Void) {
        guard let tasks else { return }
        guard tasks.count < Self.maximumWaiting else {
            socket?.close(.tryAgainLater, reason: "Too slow")
            return
        }
        tasks.enqueue { action(self) }
    }
}

extension GroupSocket: Subscriber {
    func receive(_ event: LiveEvent, on topic: LiveTopic) {
        switch event {
        case .logged(let frame):
            guard case .group(let group) = topic else { return }
            if let caller {
                turn { $0.forward(frame, of: group, to: caller) }
            } else {
                socket?.send(frame)
            }
        case .left(let group): turn { $0.endSubscription(of: group) }
        case .deleted(let issuedUntil):
            if let caller, caller.claims.issuedAt <= issuedUntil { end() }
        case .suspended: end()
        case .gap:
            // The client reconnects and reads what it missed.
            socket?.close(.tryAgainLater, reason: DeuceDiary.errorMessages.unavailable)
        }
    }

    /// Sends an event if its group is still the subscribed one and the caller still a member.
    private func forward(_ frame: TextFrame, of group: DeuceDiary.Group.ID, to caller: Caller) {
        guard group == self.group else { return }
        let membership = Membership(user: caller.user, group: group)
        tasks?.work { [service] in
            try await service.isMember(membership)
        } then: { result in
            switch result {
            case .success(true): self.socket?.send(frame)
            case .success(false): self.endSubscription(of: group)
            case .failure: self.socket?.close(.tryAgainLater, reason: DeuceDiary.errorMessages.unavailable)
            }
        }
    }

    /// Ends the subscription of a group because the membership has ended.
    private func endSubscription(of group: DeuceDiary.Group.ID) {
        guard group == self.group else { return }
        self.group = nil
        // While the group is being checked again, its events are still needed.
        if !unchecked.contains(group) { stopListening(to: group) }
        refuse("Not a member of this group")
    }
}
