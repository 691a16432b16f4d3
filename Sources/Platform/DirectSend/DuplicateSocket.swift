public import NIOCore
import NIOPosix

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A second descriptor of a channel's system socket, with which the connection stays open when the channel is closed.
public struct DuplicateSocket {
    private let descriptor: NIOBSDSocket.Handle

    /// Duplicates the descriptor, on the channel's event loop. It fails for a channel that has no socket, or is closed, and
    /// if the process may open no other.
    public init?(of channel: any Channel) {
        guard let transport = channel as? any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>,
            let descriptor = try? transport.withUnsafeTransport({ fcntl($0, F_DUPFD_CLOEXEC, 0) }), descriptor >= 0
        else { return nil }
        self.descriptor = descriptor
    }

    /// Returns the descriptor, which then belongs to the caller.
    public func take() -> NIOBSDSocket.Handle { descriptor }

    /// Closes the descriptor, which must not have been taken.
    public func close() { _ = systemClose(descriptor) }
}

private let systemClose = close
