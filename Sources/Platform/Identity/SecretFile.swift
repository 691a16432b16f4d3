import Foundation

/// A file that only its owner may read, and that is written once, as a whole.
struct SecretFile {
    private let root: String
    private let folder: String
    private let name: String
    private let form: SecretForm

    var path: String { folder + "/" + name }

    init(folder root: String, name: String, form: SecretForm) {
        self.root = root
        self.folder = root + "/keys"
        self.name = name
        self.form = form
    }

    /// Returns the file's text; nil when there is no such file.
    func contents() throws(SecretKeyError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(at: path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(at: path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .damagedFile(path: path, form) }
        guard status.st_mode & 0o077 == 0 else {
            throw .exposedFile(path: path, mode: UInt32(status.st_mode & 0o777))
        }
        var bytes = [UInt8](repeating: 0, count: form.sizeLimit)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure(at: path) }
        // A longer file is not a key, and its beginning must not be used as one.
        guard count < bytes.count else { throw .damagedFile(path: path, form) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Creates the file with this text, or returns the text of a process that was faster.
    ///
    /// The text is complete and on the disk before the file has its name. A link, unlike a rename, fails for an
    /// existing name, so every reader of the name reads the same whole key.
    func create(_ text: String) throws(SecretKeyError) -> String {
        do {
            try FileManager.default.createDirectory(
                atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .inaccessible(path: root, reason: "\(error.localizedDescription)")
        }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure(at: folder) }
        let draft = folder + "/." + name + "." + Base64URL.encode(randomBytes(12))
        try writeDraft(text, to: draft)
        let linked = link(draft, path)
        let code = errno
        unlink(draft)
        guard linked == 0 || code == EEXIST else { throw failure(at: path, code: code) }
        // This is done after losing, too: the winner may not have come as far as this yet.
        try synchronize(folder)
        try synchronize(root)
        guard let stored = try contents() else { throw failure(at: path, code: ENOENT) }
        return stored
    }

    /// Replaces the text. A reader finds the old or the new text, and each of them whole.
    func replace(with text: String) throws(SecretKeyError) {
        let draft = folder + "/." + name + "." + Base64URL.encode(randomBytes(12))
        try writeDraft(text, to: draft)
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw failure(at: path, code: code)
        }
        try synchronize(folder)
    }

    /// Removes the file.
    ///
    /// - Returns: False when there was none.
    func remove() throws(SecretKeyError) -> Bool {
        guard unlink(path) == 0 else {
            if errno == ENOENT { return false }
            throw failure(at: path)
        }
        try synchronize(folder)
        return true
    }

    private func writeDraft(_ text: String, to draft: String) throws(SecretKeyError) {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(at: draft) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        // The text has two pages at most, so a short count means a full disk.
        let count = write(descriptor, bytes, bytes.count)
        guard count == bytes.count, fsync(descriptor) == 0 else {
            let code = count < 0 || count == bytes.count ? errno : ENOSPC
            unlink(draft)
            throw failure(at: draft, code: code)
        }
    }

    private func synchronize(_ directory: String) throws(SecretKeyError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(at: directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(at: directory) }
    }

    private func failure(at path: String, code: Int32 = errno) -> SecretKeyError {
        .inaccessible(path: path, reason: String(cString: strerror(code)))
    }
}
