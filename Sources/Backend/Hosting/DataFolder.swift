import Foundation

/// The folder with everything that must survive: databases, stored files, keys. One process owns it at a time.
struct DataFolder {
    let path: String
    /// The file that is locked; closing it releases the lock.
    private let lock: FileHandle
    /// The paths that other users of the machine could read or write before this process took the folder.
    let exposed: [String]

    /// Creates the folder when there is none, and locks it for this process.
    ///
    /// - Throws: ``Unusable``, whose description is for the operator.
    init(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Unusable("The data folder \(path) cannot be created: \(Self.reason())")
        }
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Unusable(
                "The data folder \(path) cannot be written to: \(Self.reason()). "
                    + "Give its owner write permission, or choose another with --data.")
        }
        let lock = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let owner = (try? lock.readToEnd()).flatMap { String(data: $0, encoding: .utf8) } ?? ""
            throw Unusable(
                "The data folder \(path) is in use by another concord (process \(owner)). "
                    + "Stop it, or choose another folder with --data.", isInUse: true)
        }
        ftruncate(descriptor, 0)
        try? lock.write(contentsOf: Data("\(getpid())".utf8))
        self.path = path
        self.lock = lock
        exposed = PrivateFiles.tighten(path)
    }

    /// Gives what root has made in the folder to the folder's owner.
    func giveToOwner() { PrivateFiles.giveToOwner(path) }

    /// Returns the system's description of the last error.
    static func reason() -> String { String(cString: strerror(errno)) }

    struct Unusable: Error, CustomStringConvertible {
        let description: String
        /// Whether another process has the folder.
        let isInUse: Bool

        init(_ description: String, isInUse: Bool = false) {
            self.description = description
            self.isInUse = isInUse
        }
    }
}
