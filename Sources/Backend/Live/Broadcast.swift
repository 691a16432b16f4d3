import Contract
import ContractServer
import Database
import EventBus
import HTTPTypes
import NIOCore
import WebSockets

/// Sends events to every socket of an API: each as one frame of JSON, on all nodes, in the order of the commits.
///
/// It is for APIs whose sockets all receive the same. An API in which each socket receives something else has a `Hub` and an
/// ``EventPublisher`` of its own.
public struct Broadcast<Event: ServerFrame>: Sendable {
    private let database: Database
    private let hub: BroadcastHub
    private let publisher: EventPublisher<BroadcastTopic, Event>

    /// - Parameter group: The event loops on which the sockets live.
    public init(_ database: Database, group: any EventLoopGroup) {
        let hub = BroadcastHub(group)
        self.database = database
        self.hub = hub
        publisher = EventPublisher(database, subscribersRead: false) { event in
            hub.publish(to: .everybody) { .frame(TextFrame(event)) }
        } gap: { _ in
            hub.publish(to: .everybody) { .gap }
        }
    }

    /// Sends an event to every socket once the transaction is durable; to none when it fails.
    ///
    /// Where several nodes share the database, transactions that publish come one after the other, and an event that it
    /// cannot carry between nodes (`Database.maximumAnnouncement`) closes the sockets of the others with 1013 instead:
    /// clients read it when they are back.
    public func publish(_ event: Event, in db: Session) throws {
        let topic = BroadcastTopic.everybody
        let number = database.isShared ? EventNumber(try db.countEvent(of: topic.rawValue), of: topic) : nil
        publisher.publish(event, short: nil, as: number, in: db)
    }

    /// Receives the events of other nodes, until the task is cancelled. A service calls it in
    /// ``HostedService/listen(_:)``.
    ///
    /// - Parameter started: Called when every event that is announced from now on will be received.
    public func listen(_ started: @escaping @Sendable () -> Void) async {
        guard database.isShared else { return started() }
        await publisher.listen(
            completing: { $0 },
            gap: { [hub] in
                hub.publish(to: .everybody) { .gap }
                started()
            })
    }

    /// Returns the route of a socket that hears the events. Clients send their access token in the handshake, as
    /// `Authorization: Bearer …`.
    ///
    /// A socket is closed with 4001 when its session has ended or its token has expired, and with 1013 when it may have
    /// missed an event.
    ///
    /// - Parameter path: The whole path, with the API's base path.
    public func socket<API: ServiceAPI, User>(
        at path: String, of _: API.Type, for sessions: TokenSessions<User>
    ) -> SocketRoute {
        SocketRoute(path: path) { [hub] request, _ in
            do {
                let caller = try await sessions.caller(request.headerFields.bearerToken ?? "")
                let lifetime = TimeAmount.seconds(sessions.secondsLeft(of: caller))
                return .accept {
                    BroadcastSocket(hub, lifetime: lifetime) { try await sessions.isOpen(caller) }
                }
            } catch {
                let problem = error as? Problem ?? .unavailable(error, API.errorMessages)
                return .refuse(problem ?? Problem(.internalServerError, API.errorMessages.internalError), in: API.self)
            }
        }
    }
}

enum BroadcastTopic: String, Codable, Sendable {
    case everybody
}

enum BroadcastEvent: Sendable {
    case frame(TextFrame)
    /// Something may have been missed.
    case gap
}

typealias BroadcastHub = Hub<BroadcastTopic, BroadcastEvent>

/// One client's socket. It lives on its event loop.
private final class BroadcastSocket: SocketHandler, Subscriber {
    /// The number of frames that wait while the session is looked up. A socket that falls behind further is closed.
    private static let maximumWaiting = 256

    private let hub: BroadcastHub
    private let lifetime: TimeAmount
    private let isOpen: @Sendable () async throws -> Bool
    private var socket: (any SocketConnection)?
    private var queue: SerialQueue?
    private var expiry: Scheduled<Void>?

    /// - Parameters:
    ///   - lifetime: The time until the caller's token expires.
    ///   - isOpen: Returns whether the caller's session is there.
    init(_ hub: BroadcastHub, lifetime: TimeAmount, isOpen: @escaping @Sendable () async throws -> Bool) {
        self.hub = hub
        self.lifetime = lifetime
        self.isOpen = isOpen
    }

    func opened(_ socket: any SocketConnection) {
        self.socket = socket
        queue = SerialQueue(on: socket.eventLoop)
        hub.subscribe(self, to: .everybody, on: socket.eventLoop)
        let this = NIOLoopBound(self, eventLoop: socket.eventLoop)
        expiry = socket.eventLoop.scheduleTask(in: lifetime) { this.value.endSession() }
    }

    func received(_ text: ByteBuffer) {}
    func receivedBinary(_ count: Int) {}

    func closed() {
        expiry?.cancel()
        queue?.end()
        if let socket { hub.unsubscribe(self, from: .everybody, on: socket.eventLoop) }
        socket = nil
    }

    func receive(_ event: BroadcastEvent, on topic: BroadcastTopic) {
        guard case .frame(let frame) = event else { return comeAgain("Events may have been missed") }
        guard let queue, queue.count < Self.maximumWaiting else { return comeAgain("Too slow") }
        queue.enqueue { [isOpen] in
            self.queue?.work(isOpen) { result in
                switch result {
                case .success(true): self.socket?.send(frame)
                case .success(false): self.endSession()
                case .failure: self.comeAgain("Service temporarily unavailable")
                }
            }
        }
    }

    private func endSession() { socket?.close(.sessionEnded, reason: "Session ended") }

    private func comeAgain(_ reason: String) { socket?.close(.tryAgainLater, reason: reason) }
}
