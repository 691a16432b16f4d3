import Foundation

/// Keeps the content of the data folder from other users of the machine.
enum PrivateFiles {
    /// Makes every file and folder that this process creates from now on accessible to its user alone: files 0600,
    /// folders 0700.
    static func keepPrivate() { umask(0o077) }

    /// Removes the rights of other users to the databases, keys, e-mails and folders of files in a data folder.
    ///
    /// Files below a folder that other users cannot enter are out of their reach, whatever their own mode is.
    /// - Returns: The paths that other users had rights to, relative to the folder.
    static func tighten(_ folder: String) -> [String] {
        var changed: [String] = []
        for name in entries(of: folder) {
            if ["keys", "files", "uploads", "mail"].contains(name) {
                tighten(name, in: folder, depth: 0, &changed)
            } else if name.contains(".sqlite") {
                restrict(name, in: folder, to: 0o600, &changed)
            }
        }
        return changed
    }

    /// Gives what root has made in a folder to the folder's owner, so that the service, which runs as that user, can use it.
    /// It does nothing for another user than root, and where the folder is root's own.
    static func giveToOwner(_ folder: String) {
        var status = stat()
        guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
        let (user, group) = (status.st_uid, status.st_gid)
        guard let names = FileManager.default.enumerator(atPath: folder) else { return }
        for case let name as String in names {
            let file = "\(folder)/\(name)"
            if lstat(file, &status) == 0, status.st_uid == 0 { lchown(file, user, group) }
        }
    }

    private static func tighten(_ path: String, in root: String, depth: Int, _ changed: inout [String]) {
        switch kind(root + "/" + path) {
        case S_IFDIR:
            restrict(path, in: root, to: 0o700, &changed)
            guard depth < 2 else { return }
            for name in entries(of: root + "/" + path) {
                tighten("\(path)/\(name)", in: root, depth: depth + 1, &changed)
            }
        case S_IFREG: restrict(path, in: root, to: 0o600, &changed)
        // An operator may have linked to files elsewhere, which are not this program's to change.
        default: return
        }
    }

    private static func restrict(_ path: String, in root: String, to mode: mode_t, _ changed: inout [String]) {
        var status = stat()
        guard lstat("\(root)/\(path)", &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT),
            status.st_mode & 0o077 != 0, chmod("\(root)/\(path)", mode) == 0
        else { return }
        changed.append(path)
    }

    private static func kind(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    private static func entries(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }
}
