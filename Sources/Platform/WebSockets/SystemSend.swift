import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension UnsafeRawBufferPointer {
    /// Offers the bytes to the kernel, and returns how many it has accepted: none if there is no room or the connection is
    /// broken.
    func offer(to socket: NIOBSDSocket.Handle) -> Int {
        #if canImport(Darwin)
        // NIO has set SO_NOSIGPIPE.
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        while true {
            let result = send(socket, baseAddress, count, flags)
            if result >= 0 || errno != EINTR { return Swift.max(0, result) }
        }
    }
}
