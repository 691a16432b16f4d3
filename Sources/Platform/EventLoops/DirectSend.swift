public import NIOCore
import NIOPosix

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The way past a channel to its socket, for bytes that the kernel may take at once.
///
/// NIO's own way takes the bytes through the pipeline, a queue and a promise, and casts the channel at each call. It must be
/// used only where no handler changes what is sent, and while the channel itself has nothing to send.
public struct DirectSend {
    private let transport: any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>

    /// Fails for a channel that has no socket.
    public init?(_ channel: any Channel) {
        guard let transport = channel as? any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle> else { return nil }
        self.transport = transport
    }

    /// Offers bytes to the kernel on the channel's event loop, and returns how many it has accepted: none if there is no
    /// room or the connection is broken. The channel meets an error too, when it sends the rest.
    public func offer(_ bytes: UnsafeRawBufferPointer) -> Int {
        (try? transport.withUnsafeTransport { Self.pass(bytes, to: $0) }) ?? 0
    }

    private static func pass(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
        #if canImport(Darwin)
        // NIO has set SO_NOSIGPIPE.
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        while true {
            let result = send(socket, bytes.baseAddress, bytes.count, flags)
            if result >= 0 || errno != EINTR { return max(0, result) }
        }
    }
}
