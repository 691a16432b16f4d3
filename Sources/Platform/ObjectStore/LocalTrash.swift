import Foundation

// The id is in the file `store-id` beside the folder of the objects. The trash is a folder with a subfolder for each
// day, in which files have the same paths as in `objects`. So moving a day's content back restores it.
extension LocalObjectStore {
    private var identityPath: String { folder + "/" + StoreNames.identity }
    private var trash: String { folder + "/" + StoreNames.trash }

    public func identity() async throws -> String? {
        try await threads.blocking { [identityPath] in
            guard let bytes = try FileSystem.content(of: identityPath, in: 0..<1024) else { return nil }
            return try StoreNames.identity(in: String(decoding: bytes, as: UTF8.self), at: identityPath)
        }
    }

    public func identify(as id: String) async throws -> Bool {
        try await threads.blocking { [folder, identityPath] in
            // The text is complete and on the disk before the file has its name.
            let draft = "\(identityPath).\(UUID().uuidString)"
            let descriptor = try FileSystem.createFile(draft)
            defer { unlink(draft) }
            do {
                defer { close(descriptor) }
                try Array((id + "\n").utf8).withUnsafeBytes { try FileSystem.write($0, to: descriptor, path: draft) }
                try FileSystem.synchronize(descriptor, path: draft)
            }
            let isFirst = try FileSystem.link(draft, identityPath)
            try FileSystem.synchronizeDirectory(folder)
            return isFirst
        }
    }

    public func discard(_ key: ObjectKey) async throws { try await discard(key, on: StoreNames.day(of: now())) }

    func discard(_ key: ObjectKey, on day: String) async throws {
        try await threads.blocking { [layout, folder] in
            let components = layout.components(of: key)
            var (target, source) = (folder, layout.root)
            for component in [StoreNames.trash, day] + components.dropLast() {
                let parent = target
                target += "/" + component
                if try FileSystem.createDirectory(target) { try FileSystem.synchronizeDirectory(parent) }
            }
            for component in components.dropLast() { source += "/" + component }
            let name = components[components.count - 1]
            guard try FileSystem.rename("\(source)/\(name)", "\(target)/\(name)") else { return }
            try FileSystem.synchronizeDirectory(target)
            try FileSystem.synchronizeDirectory(source)
        }
    }

    public func keepingDeleted<T>(_ body: () async throws -> T) async throws -> T {
        try await hold.whileHeld(body) { object in
            let path = ObjectLayout(root: "\(trash)/\(object.day)").path(of: object.key)
            try await threads.blocking { try FileSystem.remove(path) }
        }
    }

    public func openKept(_ key: ObjectKey) async throws -> StoredObject? {
        let paths =
            [layout.path(of: key)]
            + StoreNames.daysInTrash(at: now()).map { ObjectLayout(root: "\(trash)/\($0)").path(of: key) }
        // It may be moved to the trash after the first look, so the first place is looked at again at the end.
        for path in paths + paths.prefix(1) {
            let found = try await threads.blocking { () -> (OpenFile, ObjectAttributes)? in
                guard let attributes = try FileSystem.attributes(of: path) else { return nil }
                do {
                    return (
                        try OpenFile(path), ObjectAttributes(size: attributes.size, modified: attributes.modified)
                    )
                } catch let error as FileSystemError where error.isAbsence {
                    return nil
                }
            }
            if let (file, attributes) = found {
                return StoredObject(attributes: attributes, content: content(of: file, in: 0..<attributes.size))
            }
        }
        return nil
    }

    public func emptyTrash(before cutoff: Int64) async throws -> Int {
        if hold.isActive { return 0 }
        return try await threads.blocking { [trash] in
            guard FileManager.default.fileExists(atPath: trash) else { return 0 }
            var count = 0
            for day in try FileManager.default.contentsOfDirectory(atPath: trash)
            where StoreNames.isOver(day, before: cutoff) {
                let path = "\(trash)/\(day)"
                for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
                    if try FileSystem.attributes(of: "\(path)/\(name)") != nil { count += 1 }
                }
                try FileManager.default.removeItem(atPath: path)
            }
            return count
        }
    }
}
