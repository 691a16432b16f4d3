import ContractClient
import Foundation

#if canImport(Network)
import Network
#endif

/// Whether there is a network, so that an app need not wait to hear that there is none.
///
/// Nobody has to start it: until somebody does, there is one as far as it knows.
public final class NetworkMonitor: Sendable {
    public static let shared = NetworkMonitor()

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

    private let state = Guarded(State())

    public var isConnected: Bool { state.use(\.isConnected) }
    public var connectionType: ConnectionType { state.use(\.connectionType) }

    public init() {}

    #if canImport(Network)
    private let monitor = Guarded<NWPathMonitor?>(nil)

    /// Watches from now on.
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

    /// Stops watching. There is a network again, as far as it knows.
    public func stopMonitoring() {
        let before = monitor.use { monitor in
            defer { monitor = nil }
            return monitor
        }
        before?.cancel()
        state.use { $0 = State() }
    }
    #else
    /// There is nothing to watch with on this platform.
    public func startMonitoring() {}
    public func stopMonitoring() {}
    #endif
}
