import Testbed
import Testing

@testable import Database

@Suite(.timeLimit(.minutes(30))) struct MappedFilesTests {
    /// The disks of a machine: ext4, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs.
    @Test(arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x2FC1_2FC1, 0xF2F5_2010, 0x0102_1994, 0x794C_7630])
    func aDiskOfTheMachineIsMapped(_ type: Int64) { #expect(MappedFiles.areMapped(on: type)) }

    /// NFS, SMB, CIFS, SMB 2, FUSE, 9P, Ceph, Lustre, AFS, GFS2, OCFS2, GPFS, virtiofs. GlusterFS is mounted by FUSE.
    @Test(arguments: [
        0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x0BD0_0BD0, 0x5346_414F,
        0x0116_1970, 0x7461_636F, 0x4750_4653, 0x6A65_6A63,
    ])
    func aFileSystemOfANetworkIsNot(_ type: Int64) {
        #expect(!MappedFiles.areMapped(on: type))
        // Systems whose `f_type` is a signed number of 32 bits extend the sign.
        #expect(!MappedFiles.areMapped(on: Int64(Int32(truncatingIfNeeded: type))))
    }

    @Test func aFileThatIsNotThereIsNotMapped() async throws {
        try await withTemporaryFolder { folder async throws in
            #expect(!MappedFiles.mayMap(folder + "/nothing"))
            #expect(MappedFiles.mayMap(folder))
        }
    }
}
