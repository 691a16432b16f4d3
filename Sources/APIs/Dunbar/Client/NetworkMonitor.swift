import ContractClient
import Foundation

#if canImport(Network)
import Network
#endif

/// Observes whether there is a network, so that requests without one fail at once.
///
/// Starting it is optional: until then it reports a network.
public final class NetworkMonitor: Sendable {
    /// The monitor that clients use by default.
    public static let shared = NetworkMonitor()

    /// The kind of network.
    public enum ConnectionType: Sendable {
        case wifi
        case cellular
        case ethernet
        case unknown
    }

    private struct State: Sendable {
        var isConnected = true
        var connectionType = ConnectionType.unknown
    }

    private let state = Locked(State())

    /// Whether there is a network.
    public var isConnected: Bool { state.use(\.isConnected) }
    /// The kind of network that is in use.
    public var connectionType: ConnectionType { state.use(\.connectionType) }

    public init() {}

    #if canImport(Network)
    private let monitor = Locked<NWPathMonitor?>(nil)

    /// Starts observing.
    public func startMonitoring() {
        let path = NWPathMonitor()
        path.pathUpdateHandler = { [state] path in
            state.use { state in
                state.isConnected = path.status == .satisfied
                state.connectionType =
                    path.usesInterfaceType(.wifi)
                    ? .wifi
                    : path.usesInterfaceType(.cellular)
                        ? .cellular : path.usesInterfaceType(.wiredEthernet) ? .ethernet : .unknown
            }
        }
        let before = monitor.use { monitor in
            defer { monitor = path }
            return monitor
        }
        before?.cancel()
        path.start(queue: DispatchQueue(label: "NetworkMonitor"))
    }

    /// Stops observing; from then on it reports a network.
    public func stopMonitoring() {
        let before = monitor.use { monitor in
            defer { monitor = nil }
            return monitor
        }
        before?.cancel()
        state.use { $0 = State() }
    }
    #else
    /// Does nothing, because this platform has no network monitor.
    public func startMonitoring() {}
    /// Does nothing.
    public func stopMonitoring() {}
    #endif
}
