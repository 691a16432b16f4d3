import Contract
import ContractServer
import NIOPosix
import NIOSSL
import ObjectStore
import WebSockets

/// An API's service with everything that stands around it: a router that answers its requests, its sockets and its
/// health.
public struct ComposedAPI<Service: HostedService>: Sendable {
    public let service: Service
    public let health: Health
    /// Answers the API's requests, and `/health` and `/ready`.
    public let router: Router<Service.API>
    public let sockets: [SocketRoute]
    private let platform: Platform

    fileprivate init(_ service: Service, on platform: Platform, documents: [ServedDocument]) throws {
        self.service = service
        self.platform = platform
        let database = platform.database
        health = Health(
            check: {
                var parts = await service.check()
                if database.hasBusApart {
                    parts.append(await .init("bus", isNeeded: false) { try database.checkBus() })
                }
                if database.hasReplica {
                    parts.append(await .init("replica", isNeeded: false) { try database.checkReplica() })
                }
                return parts
            }, notes: platform.notes, logger: platform.logger)
        var routes = service.routes()
        if Service.API.endpoints.contains(where: { $0 == GetAbout<Service.API>.self }) {
            routes.open { [about = platform.about] (_: GetAbout<Service.API>, _) in Service.API.answering(about) }
        }
        guard routes.unhandled.isEmpty else {
            throw MissingHandlers(api: Service.API.name, operations: routes.unhandled)
        }
        routes.serve(health, answering: Service.healthyBody)
        routes.serve(documents)
        var options = Router<Service.API>.Options(
            logger: platform.logger, trustedProxies: platform.trustedProxies,
            showsDetails: platform.isDevelopment, memory: platform.memory, tracer: platform.tracer,
            isEncrypted: platform.isEncrypted, linksFollowHost: platform.linksFollowHost
        ) { Problem.unavailable($0, Service.API.errorMessages) }
        options.review = platform.words?.review
        router = Router(routes, options: options)
        sockets = service.sockets()
    }

    /// Returns the listener that serves the API on a port.
    ///
    /// - Parameters:
    ///   - limits: The times that clients have.
    ///   - connections: Bounds the connections of all listeners that share it.
    ///   - tls: The certificate and key with which the port speaks TLS; nil for plain HTTP.
    public func listener(
        limits: ConnectionGuard.Limits = .init(), connections: ConnectionLimits? = nil, tls: TLSConfiguration? = nil
    ) -> Listener {
        Listener(
            router, sockets: sockets, group: platform.group, limits: limits, connections: connections, tls: tls)
    }
}

extension HostedAPI {
    /// Makes the API's service, and puts it together with its router, its sockets and its health.
    ///
    /// - Throws: ``MissingHandlers``; what ``makeService(on:)`` throws.
    public func compose(on platform: Platform) throws -> ComposedAPI<Service> {
        try ComposedAPI(
            try makeService(on: platform), on: platform, documents: platform.documents + linkDocuments(on: platform))
    }
}

/// The error of an API whose service does not handle every operation of its contract.
public struct MissingHandlers: Error, CustomStringConvertible {
    let api: String
    /// The operations, as the contract writes them: `POST /entries`.
    public let operations: [String]

    public var description: String {
        "The routes of \(api) have no handler for \(operations.joined(separator: ", "))"
    }
}

extension Platform {
    /// Returns the functions that do not work although the process can serve: without room for files, an API still
    /// serves texts.
    fileprivate var notes: @Sendable () async -> [String] {
        let backups = backups
        guard let reserve, store != nil else { return { [backups?.note].compactMap(\.self) } }
        return { [folder] in
            let notes = [backups?.note].compactMap(\.self)
            do {
                try await NIOThreadPool.singleton.runIfActive { try reserve.check(folder) }
            } catch is InsufficientStorage {
                return notes + [Problem.insufficientStorage.message]
            } catch {
                return notes + ["\(error)"]
            }
            return notes
        }
    }
}
