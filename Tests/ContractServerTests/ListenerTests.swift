#if os(Linux)
import Backend
import Contract
import ContractServer
import Foundation
import Glibc
import NIOPosix
import Testbed
import Testing

@Suite(.timeLimit(.minutes(30)))
struct ListenerTests {
    /// The system drops connections that it does not let wait, and their clients try again after seconds. All of them connect
    /// at the same time after a restart.
    @Test func asManyConnectionsMayWaitAsTheSystemAllows() async throws {
        let allowed = try String(contentsOfFile: "/proc/sys/net/core/somaxconn", encoding: .utf8)
        let port = try await reservePort()
        let listener = Listener(Sample.table(LogBook()), sockets: [], group: MultiThreadedEventLoopGroup.ofTests)
        try await serving(listener, port: port) {
            let lengths = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap { name in
                Int32(name).flatMap { Self.backlog(of: $0, at: port) }
            }
            #expect(lengths == [min(65_535, Int(allowed.filter(\.isNumber)) ?? 0)])
        }
    }

    /// Returns the number of connections that may wait at a listening socket; nil for anything else.
    private static func backlog(of descriptor: Int32, at port: Int) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutableBytes(of: &address) { bytes in
            getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0
        }
        guard isNamed, address.sin_family == sa_family_t(AF_INET), UInt16(bigEndian: address.sin_port) == port else {
            return nil
        }
        var isListening: Int32 = 0
        length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
        guard isListening == 1 else { return nil }
        var info = tcp_info()
        length = socklen_t(MemoryLayout<tcp_info>.size)
        // Linux gives the backlog of a listening socket in this field.
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
        return Int(info.tcpi_sacked)
    }
}
#endif
