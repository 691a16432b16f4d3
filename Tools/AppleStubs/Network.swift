// The network monitor's members that the SDKs use, with the signatures of Apple's documentation.
import AppleFoundation

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: Status { fatalError() }
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { false }
}

public struct NWInterface: Hashable, Sendable {
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}

public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public var currentPath: NWPath { fatalError() }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
