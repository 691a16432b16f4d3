import Foundation

/// Reports the server's state to the service manager that started it, as sd_notify(3) describes: systemd, for a unit of
/// `Type=notify` or `Type=notify-reload`, names a datagram socket in `NOTIFY_SOCKET`.
struct ServiceManager: Sendable {
    enum State {
        case ready
        case reloading
        case stopping
    }

    private let path: String

    /// Returns nil when no service manager waits for reports.
    init?(environment: [String: String]) {
        // The path of a socket, or "@" and an abstract name.
        guard let path = environment["NOTIFY_SOCKET"], let first = path.first, "/@".contains(first) else { return nil }
        self.path = path
    }

    func report(_ state: State) {
        switch state {
        case .ready: send("READY=1")
        case .stopping: send("STOPPING=1")
        case .reloading:
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
        }
    }

    /// Sends one report. A report that cannot be sent is dropped: the server works without it.
    private func send(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // An abstract name ends where the address ends.
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count + (name[0] == 0 ? 0 : 1))
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(descriptor, bytes, bytes.count, 0, address, length)
            }
        }
    }
}
