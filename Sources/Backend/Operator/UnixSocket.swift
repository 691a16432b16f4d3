import Foundation

/// The operator's socket in a data folder, as a file descriptor.
enum UnixSocket {
    static let fileName = "operator"

    /// Listens in a data folder. An existing socket is removed: the caller owns the folder, so no process answers
    /// there.
    ///
    /// - Returns: A descriptor that only this user may connect to.
    /// - Throws: ``DataFolder/Unusable``, whose description is for the operator.
    static func listen(in folder: String) throws -> Int32 {
        let path = folder + "/" + fileName
        return try withShortFolder(folder) { short in
            let descriptor = try make()
            unlink(path)
            #if !canImport(Darwin)
            // The mode is set before the file exists, so that the file never has another one.
            _ = fchmod(descriptor, 0o600)
            #endif
            let isBound = withAddress(of: short + "/" + fileName) { bind(descriptor, $0, $1) == 0 }
            guard isBound, chmod(path, 0o600) == 0, Foundation.listen(descriptor, 16) == 0 else {
                let reason = DataFolder.reason()
                close(descriptor)
                throw DataFolder.Unusable("The operator's socket \(path) cannot be created: \(reason)")
            }
            return descriptor
        }
    }

    /// Connects to the server that uses a data folder.
    ///
    /// - Returns: The socket's descriptor; nil when no server listens there.
    /// - Throws: ``OperatorError`` when this user may not connect to the server.
    static func connect(in folder: String) throws -> Int32? {
        let path = folder + "/" + fileName
        guard access(path, F_OK) == 0 else { return nil }
        return try withShortFolder(folder) { short in
            let descriptor = try make()
            let isConnected = withAddress(of: short + "/" + fileName) { Foundation.connect(descriptor, $0, $1) == 0 }
            if isConnected { return descriptor }
            let (code, reason) = (errno, DataFolder.reason())
            close(descriptor)
            // A server that was killed leaves its socket behind.
            if code == ECONNREFUSED || code == ENOENT { return nil }
            throw OperatorError(
                "The server's socket \(path) cannot be used: \(reason). Run the command as the user that the server runs as."
            )
        }
    }

    private static func make() throws -> Int32 {
        #if canImport(Darwin)
        let type = SOCK_STREAM
        #else
        let type = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw DataFolder.Unusable("No socket can be created: \(DataFolder.reason())") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Calls a closure with a path of the folder that fits into a socket's address, which has room for about a hundred
    /// bytes. A folder with a longer path is reached through a symbolic link, which is removed when the closure
    /// returns.
    private static func withShortFolder<T>(_ folder: String, _ body: (String) throws -> T) throws -> T {
        let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard folder.utf8.count + 1 + fileName.utf8.count > room else { return try body(folder) }
        var template = Array("/tmp/concord-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw DataFolder.Unusable(
                "The path of the data folder \(folder) is too long for a socket, and /tmp cannot be written to: "
                    + DataFolder.reason())
        }
        let temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let link = temporary + "/data"
        defer {
            unlink(link)
            rmdir(temporary)
        }
        guard symlink(URL(fileURLWithPath: folder).path, link) == 0 else {
            throw DataFolder.Unusable("The data folder \(folder) cannot be linked to: \(DataFolder.reason())")
        }
        return try body(link)
    }

    private static func withAddress<T>(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
    ) -> T {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
