import ContractClient
import DeuceDiaryAPI
import Foundation
import HTTPTypes

/// The state of a live connection that outlasts its sockets: the group, and its known entries.
actor LiveFeed {
    nonisolated let events = EventHub<DeuceDiaryLive.Event>()
    private let client: DeuceDiaryClient
    let connection: LiveConnection
    private let pacing: LiveConnection.Pacing
    /// The token with which the newest socket was opened.
    private let offered = Locked("")
    private var me: DeuceDiary.User.ID?
    private var group: DeuceDiary.Group.ID
    /// The known entries; nil until it is known at which entry delivery begins.
    private var known: KnownEntries?
    /// Whether the caller has no access to the group.
    private var isRefused = false
    /// The notices that wait until the history before them has been read; nil once notices are delivered as they come.
    private var waiting: [DeuceDiary.Notice]? = []

    // The current socket.
    private var socket: LiveSocket?
    private var joining: Task<Void, Never>?
    /// The number of groups that were joined on the current socket and then left: their refusals may still arrive.
    private var unsettled = 0

    init(
        client: DeuceDiaryClient, group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry?,
        transport: any SocketTransport, pacing: LiveConnection.Pacing
    ) {
        self.client = client
        self.pacing = pacing
        self.group = group
        known = since.map { KnownEntries([$0.value]) }
        connection = LiveConnection(transport: transport, pacing: pacing) { [offered] in
            let token = try await client.token()
            offered.use { $0 = token }
            return [.authorization: "Bearer \(token)"]
        } url: {
            client.baseURL.appendingPathComponent("ws")
        }
        events.produce { [weak self, connection, events] in
            guard let self else { return }
            try await connection.run { socket in
                try await self.serve(socket)
            } lost: { reason, wait in
                events.add(.disconnected(reason: reason, retry: wait))
            }
        }
    }

    // MARK: Calls of the app

    func change(to group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry?) {
        self.group = group
        known = since.map { KnownEntries([$0.value]) }
        if let socket { join(on: socket) }
    }

    // MARK: One socket

    private func serve(_ socket: LiveSocket) async throws {
        if me == nil { me = try await client.send(DeuceDiary.GetUser()).id }
        self.socket = socket
        unsettled = 0
        let renewal = Task { await self.renewToken(on: socket) }
        defer {
            renewal.cancel()
            lost()
        }
        join(on: socket)
        while true {
            handle(try DeuceDiary.serverFrames.decode(Data(try await socket.receive().utf8)), on: socket)
            // A slow app slows the socket down, so that waiting events do not fill the memory.
            await events.space()
        }
    }

    /// Sends a newer token before the server's one expires: a socket does not outlast its token.
    private func renewToken(on socket: LiveSocket) async {
        var known = offered.use { $0 }
        var isAskedAgain = false
        // A token without an expiry time is never renewed.
        while let times = TokenTimes(known) {
            do {
                try await pacing.sleep(
                    isAskedAgain ? times.interval : times.untilRenewal(at: Date().timeIntervalSince1970))
                let current = try await TokenProvider(provide: client.token).token(after: known)
                isAskedAgain = current == known
                guard !isAskedAgain else { continue }
                try await socket.send(DeuceDiary.Authenticate(token: current).text())
                known = current
            } catch let error as SignedOut {
                return await socket.fail(error)
            } catch {
                // The app has no token at present: it is asked again soon.
                if Task.isCancelled { return }
                isAskedAgain = true
            }
        }
    }

    private func lost() {
        socket = nil
        joining?.cancel()
        joining = nil
        // When no history was read, the first notice that came says where delivery begins.
        if known == nil, let waiting, !waiting.isEmpty {
            known = KnownEntries([])
            for notice in waiting { deliver(notice) }
        }
        waiting = []
    }

    private func handle(_ frame: any DeuceDiary.ServerFrame, on socket: LiveSocket) {
        switch frame {
        case let notice as DeuceDiary.Notice:
            // Notices that were sent before the server switched to another group are ignored.
            guard notice.entry.groupId == group, !isRefused else { return }
            if waiting?.append(notice) == nil { deliver(notice) }
        case let error as DeuceDiary.LiveError: Task { await self.doubt(error.message, on: socket) }
        default: break
        }
    }

    /// Handles an error, which does not name its group: reading the group shows whether it is closed to the caller.
    private func doubt(_ text: String, on socket: LiveSocket) async {
        if isRefused {
            unsettled = max(0, unsettled - 1)
            return
        }
        let group = group
        let failure: any Error
        do {
            _ = try await client.send(DeuceDiary.GetGroup(group: group, limit: 1))
            // The group is open, but this socket receives nothing of it: it is replaced.
            failure = SocketClosed(code: 1008, reason: text)
        } catch {
            failure = error
        }
        guard self.group == group, self.socket === socket, !isRefused else { return }
        if failure.isRefusal { return refuse() }
        if failure is SocketClosed, unsettled > 0 {
            unsettled -= 1
        } else {
            await socket.fail(failure)
        }
    }

    private func refuse() {
        guard !isRefused else { return }
        isRefused = true
        joining?.cancel()
        joining = nil
        waiting = []
        events.add(.refused(group))
    }

    // MARK: Joining

    private func join(on socket: LiveSocket) {
        if joining != nil { unsettled += 1 }
        joining?.cancel()
        isRefused = false
        waiting = []
        joining = Task { await self.join(group, on: socket) }
    }

    private func join(_ group: DeuceDiary.Group.ID, on socket: LiveSocket) async {
        let result: Result<[DeuceDiary.FeedEntry], any Error>
        do {
            try await socket.send(DeuceDiary.WatchGroup(group: group).text())
            // No frame confirms that the group is joined; the answer to a ping does. After it, nothing can be lost
            // between the history and the notices.
            try await socket.ping()
            result = .success(try await history(of: group, behind: known))
        } catch {
            result = .failure(error)
        }
        // A cancelled reading leaves the rest to the code that cancelled it.
        guard !Task.isCancelled else { return }
        joining = nil
        socket.established()
        switch result {
        case .success(let entries): fill(with: entries)
        case .failure(let error) where error.isRefusal:
            unsettled += 1
            refuse()
        case .failure(let error): await socket.fail(error)
        }
    }

    /// Reads the entries that are not known, newest first; only the newest one when none are known.
    private func history(
        of group: DeuceDiary.Group.ID, behind known: KnownEntries?
    ) async throws -> [DeuceDiary.FeedEntry] {
        var entries: [DeuceDiary.FeedEntry] = []
        for try await entry in client.entries(of: group, pageSize: known == nil ? 1 : 50) {
            guard let known else { return [entry] }
            if known.isReached(by: entry.value) { break }
            // A server that ignores `before` would make this loop endless.
            if entry.id == entries.first?.id { break }
            entries.append(entry)
        }
        return entries
    }

    private func fill(with entries: [DeuceDiary.FeedEntry]) {
        events.add(.connected(group))
        let waiting = waiting ?? []
        self.waiting = nil
        if known != nil {
            for entry in entries.reversed() { deliver(.init(entry)) }
        } else {
            // Everything since the group was joined is delivered, and nothing from before it.
            known = KnownEntries(entries.map(\.value).filter { old in !waiting.contains { $0.entry.id == old.id } })
        }
        for notice in waiting { deliver(notice) }
    }

    private func deliver(_ notice: DeuceDiary.Notice) {
        guard known?.insert(notice.entry.value) == true, notice.userId != me else { return }
        events.add(.logged(notice))
    }
}

/// The entries of a group that were delivered or existed before.
private struct KnownEntries {
    /// The number of entries whose ids are stored; older ones are known by their time.
    private static let capacity = 500

    private var ids: Set<DeuceDiary.DeuceEntry.ID> = []
    private var order: [DeuceDiary.DeuceEntry.ID] = []
    private var newest: DeuceDiary.Timestamp?

    init(_ entries: [DeuceDiary.DeuceEntry]) { for entry in entries { insert(entry) } }

    /// Adds an entry. Returns false when it was already known.
    @discardableResult
    mutating func insert(_ entry: DeuceDiary.DeuceEntry) -> Bool {
        guard ids.insert(entry.id).inserted else { return false }
        order.append(entry.id)
        if order.count > Self.capacity { ids.remove(order.removeFirst()) }
        newest = max(newest ?? entry.createdAt, entry.createdAt)
        return true
    }

    /// Returns whether a walk from the newest entry back may end at this one. A known entry may have been deleted
    /// since.
    func isReached(by entry: DeuceDiary.DeuceEntry) -> Bool {
        ids.contains(entry.id) || newest.map { entry.createdAt < $0 } == true
    }
}

extension Error {
    /// Whether the error says that the group does not exist or is closed to the caller.
    fileprivate var isRefusal: Bool { [.forbidden, .notFound].contains((self as? APIError)?.status) }
}

extension DeuceDiary.ClientFrame {
    fileprivate func text() throws -> String { String(decoding: try json(), as: UTF8.self) }
}
