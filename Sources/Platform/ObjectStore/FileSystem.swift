import Foundation

/// The error of a call of the operating system.
public struct FileSystemError: Error, Equatable, CustomStringConvertible {
    /// The call, for example `open`.
    public let call: String
    /// The file or folder of the call.
    public let path: String
    /// The value of `errno`.
    public let code: Int32

    /// The call, the path and the text of the error: `open /data/x: No space left on device`.
    public var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }

    /// Whether the disk is full, or this process's share of it.
    public var isLackOfSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether there is no such file.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
}

/// The system calls of this module. All of them block, so they belong on a thread pool.
enum FileSystem {
    static func createFile(_ path: String) throws(FileSystemError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        return descriptor
    }

    static func openFile(_ path: String, for access: Int32 = O_RDONLY) throws(FileSystemError) -> Int32 {
        let descriptor = open(path, access | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        return descriptor
    }

    /// Reads from a place in a file, and returns the number of bytes: 0 at the end.
    static func read(
        into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64, path: String
    ) throws(FileSystemError) -> Int {
        while true {
            let count = pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw failure("read", path) }
        }
    }

    /// Returns a range of a file, with fewer bytes when the file ends before; nil when there is no such file.
    static func content(of path: String, in range: Range<Int64>) throws(FileSystemError) -> [UInt8]? {
        let descriptor: Int32
        do {
            descriptor = try openFile(path)
        } catch  where error.isAbsence {
            return nil
        }
        defer { close(descriptor) }
        var content = [UInt8](repeating: 0, count: range.count)
        var filled = 0
        while filled < content.count {
            let count = content.withUnsafeMutableBytes { bytes in
                pread(
                    descriptor, bytes.baseAddress! + filled, bytes.count - filled,
                    off_t(range.lowerBound) + off_t(filled))
            }
            if count == 0 { break }
            if count > 0 { filled += count } else if errno != EINTR { throw failure("read", path) }
        }
        return Array(content[..<filled])
    }

    static func requireWritable(_ folder: String) throws(FileSystemError) {
        guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw failure("access", folder) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String) throws(FileSystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                guard errno == EINTR else { throw failure("write", path) }
            } else {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    static func synchronize(_ descriptor: Int32, path: String) throws(FileSystemError) {
        guard fsync(descriptor) == 0 else { throw failure("fsync", path) }
    }

    /// Makes the names in a directory durable.
    static func synchronizeDirectory(_ path: String) throws(FileSystemError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        try synchronize(descriptor, path: path)
    }

    /// Creates one directory, and returns false when it exists.
    @discardableResult
    static func createDirectory(_ path: String) throws(FileSystemError) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw failure("mkdir", path) }
        return false
    }

    /// Gives the file a second name, and returns false when that name is taken. A rename would replace the existing
    /// file.
    static func link(_ path: String, _ name: String) throws(FileSystemError) -> Bool {
        if Foundation.link(path, name) == 0 { return true }
        guard errno == EEXIST else { throw failure("link", name) }
        return false
    }

    /// Renames a file, replacing an existing one.
    static func rename(_ path: String, _ name: String) throws(FileSystemError) {
        guard Foundation.rename(path, name) == 0 else { throw failure("rename", name) }
    }

    /// Removes the file if it exists.
    static func remove(_ path: String) throws(FileSystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
    }

    /// Renames a file, replacing an existing one. Returns false when there is no such file.
    static func rename(_ path: String, _ name: String) throws(FileSystemError) -> Bool {
        if Foundation.rename(path, name) == 0 { return true }
        guard errno == ENOENT else { throw failure("rename", path) }
        return false
    }

    /// Returns the size in bytes and the time of the last change in Unix seconds; nil when there is no regular file.
    static func attributes(of path: String) throws(FileSystemError) -> (size: Int64, modified: Int64)? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw failure("stat", path) }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
        return (Int64(status.st_size), Int64(status.st_mtimespec.tv_sec))
        #else
        return (Int64(status.st_size), Int64(status.st_mtim.tv_sec))
        #endif
    }

    private static func failure(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, code: errno)
    }
}
