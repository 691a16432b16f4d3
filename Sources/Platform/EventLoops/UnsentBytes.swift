import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Channel {
    /// Limits the bytes that the kernel accepts from the channel and has not sent yet. It accepts up to 4 MB otherwise
    /// (`net.ipv4.tcp_wmem`), which no budget of the process sees.
    ///
    /// What is on its way to the client is not among them, so that the limit slows no fast client down, as one on the whole
    /// buffer (`SO_SNDBUF`) would. A client that reads slowly has a small window, and thus little on its way.
    ///
    /// It must be called on the channel's event loop, and does nothing for a channel that is not TCP's.
    package func limitUnsentBytes(to size: Int) {
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
        try? syncOptions?.setOption(option, value: .init(size))
    }
}
