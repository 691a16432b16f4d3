import CSQLite

/// Decides whether a file of SQLite may be mapped.
enum MappedFiles {
    /// The file systems whose pages come over a network or from another process, by the `f_type` of `statfs`. There, reading
    /// fails in passing: SQLite reports that as an error, and a mapped page ends the process.
    private static let remote: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB 2", 0x6573_5546: "FUSE", 0x0102_1997: "9P",
        0x00C3_6400: "Ceph", 0x0BD0_0BD0: "Lustre", 0x5346_414F: "AFS", 0x6B41_4653: "kAFS", 0x7375_7245: "Coda",
        0x564C: "NCP", 0x7461_636F: "OCFS2", 0x0116_1970: "GFS2", 0x1983_0326: "BeeGFS", 0x4750_4653: "GPFS",
        0xAAD7_AAEA: "PanFS", 0x2003_0528: "OrangeFS", 0x6A65_6A63: "virtiofs",
        0x786F_4256: "VirtualBox's shared folders",
    ]

    /// Returns whether files of a file system are mapped.
    ///
    /// - Parameter type: The `f_type` of `statfs`, of which the lower 32 bits count.
    static func areMapped(on type: Int64) -> Bool { remote[UInt32(truncatingIfNeeded: type)] == nil }

    /// Returns whether the file at a path may be mapped: not where the system does not say on what it lies.
    static func mayMap(_ path: String) -> Bool {
        #if os(Linux)
        let type = concord_file_system(path)
        return type != -1 && areMapped(on: type)
        #else
        true
        #endif
    }
}
