import Foundation

#if canImport(Network)
import Network
#if canImport(UIKit) && !os(watchOS)
import UIKit
#elseif canImport(AppKit)
import AppKit
#endif
#endif

/// The moments at which this device may reach a server that it could not reach before.
public struct DeviceWakes: Sendable {
    /// Returns the moments from now on.
    public let stream: @Sendable () -> AsyncStream<Void>

    public init(_ stream: @escaping @Sendable () -> AsyncStream<Void>) { self.stream = stream }

    /// No moments, for tests.
    public static let none = DeviceWakes { AsyncStream { $0.finish() } }

    #if canImport(Network)
    /// There is a network after there was none, or another one; the app comes to the front.
    public static let standard = DeviceWakes {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let monitor = NWPathMonitor()
            let before = Locked<NWPath?>(nil)
            monitor.pathUpdateHandler = { path in
                let last = before.use { before in
                    defer { before = path }
                    return before
                }
                // The first path is the one that there is already.
                guard let last, path != last, path.status == .satisfied else { return }
                continuation.yield()
            }
            monitor.start(queue: DispatchQueue(label: "Concord.DeviceWakes"))
            // The token is used once more, to remove it.
            nonisolated(unsafe) let observer = becameActive.map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
                    continuation.yield()
                }
            }
            continuation.onTermination = { _ in
                monitor.cancel()
                if let observer { NotificationCenter.default.removeObserver(observer) }
            }
        }
    }

    private static var becameActive: Notification.Name? {
        #if canImport(UIKit) && !os(watchOS)
        UIApplication.didBecomeActiveNotification
        #elseif canImport(AppKit)
        NSApplication.didBecomeActiveNotification
        #else
        nil
        #endif
    }
    #else
    /// No moments: this platform reports none.
    public static let standard = none
    #endif
}
