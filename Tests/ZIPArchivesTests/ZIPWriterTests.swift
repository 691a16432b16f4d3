import Foundation
import NIOCore
import Testbed
import Testing

@testable import ZIPArchives

/// Archives are what Python's `zipfile`, which was written elsewhere, reads.
@Suite(
    .timeLimit(.minutes(30)),
    .enabled(if: StockTools.python != nil, "`make test` installs Python and sets CONCORD_PYTHON"))
struct ZIPWriterTests {
    /// A file that has what is written, except for runs of zeros, which it does not store.
    private actor SparseFile {
        private let handle: FileHandle
        private(set) var size: UInt64 = 0

        init(_ path: String) throws {
            try Data().write(to: URL(fileURLWithPath: path))
            handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        }

        func append(_ piece: ByteBuffer) throws {
            size += UInt64(piece.readableBytes)
            if piece.readableBytes > 1 << 20 {
                try handle.truncate(atOffset: size)
                try handle.seekToEnd()
            } else {
                try handle.write(contentsOf: Data(piece.readableBytesView))
            }
        }
    }

    @Test func namesTimesAndContentsAreRead() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a.zip"
            let file = try SparseFile(path)
            let zip = ZIPWriter { try await file.append($0) }
            let entries = [
                ("empty.json", ""), ("files/ä 🎉.txt", "héllo"),
                ("long.txt", String(repeating: "0123456789", count: 50_000)),
            ]
            for (name, text) in entries {
                var checksum = CRC32()
                checksum.update(ByteBuffer(string: text))
                try await zip.begin(
                    name, modified: 1_772_000_001, size: Int64(text.utf8.count), checksum: checksum)
                for start in stride(from: 0, to: text.utf8.count, by: 4096) {
                    try await zip.append(ByteBuffer(bytes: Array(text.utf8.dropFirst(start).prefix(4096))))
                }
            }
            try await zip.finish()
            let read = try await StockTools.entries(ofZIP: path)
            #expect(read.map(\.name) == entries.map(\.0))
            #expect(read.map(\.text) == entries.map(\.1))
            for entry in read {
                #expect(entry.date == [2026, 2, 25, 6, 13, 20])
                #expect(entry.mode == 0o100644)
            }
        }
    }

    @Test func whatIsLargerThanFourGigabytesIsRead() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a.zip"
            let file = try SparseFile(path)
            let zip = ZIPWriter { try await file.append($0) }
            let (piece, count) = (ByteBuffer(repeating: 0, count: 1 << 26), 65)
            try await zip.begin("large", modified: 0, size: Int64(count) << 26, checksum: CRC32())
            for _ in 0..<count { try await zip.append(piece) }
            var checksum = CRC32()
            checksum.update(ByteBuffer(string: "ok"))
            try await zip.begin("behind", modified: .max, size: 2, checksum: checksum)
            try await zip.append(ByteBuffer(string: "ok"))
            try await zip.finish()
            let read = try await StockTools.entries(ofZIP: path)
            #expect(read.map(\.size) == [Int64(count) << 26, 2])
            #expect(read.map(\.date.first) == [1980, 2107])
            #expect(read.last?.offset ?? 0 > 1 << 32)
        }
    }

    @Test func aHundredThousandEntriesAreRead() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a.zip"
            let file = try SparseFile(path)
            let zip = ZIPWriter { try await file.append($0) }
            for number in 0..<100_000 {
                try await zip.begin("\(number)", modified: 0, size: 0, checksum: CRC32())
            }
            try await zip.finish()
            #expect(try await StockTools.entries(ofZIP: path).count == 100_000)
        }
    }

    @Test func contentOfAnotherSizeIsRefused() async throws {
        let zip = ZIPWriter { _ in }
        try await zip.begin("a", modified: 0, size: 2, checksum: CRC32())
        await #expect(throws: ZIPWriter.WrongSize.self) { try await zip.append(ByteBuffer(string: "abc")) }
        try await zip.append(ByteBuffer(string: "a"))
        await #expect(throws: ZIPWriter.WrongSize.self) {
            try await zip.begin("b", modified: 0, size: 0, checksum: CRC32())
        }
        await #expect(throws: ZIPWriter.WrongSize.self) { try await zip.finish() }
        try await zip.append(ByteBuffer(string: "b"))
        try await zip.finish()
    }

    @Test(arguments: [
        (Int64(315_532_800), (1980, 1, 1, 0, 0, 0)), (951_782_398, (2000, 2, 28, 23, 59, 58)),
        (951_782_400, (2000, 2, 29, 0, 0, 0)), (4_107_542_399, (2100, 2, 28, 23, 59, 58)),
        (4_107_542_400, (2100, 3, 1, 0, 0, 0)), (0, (1980, 1, 1, 0, 0, 0)), (.max, (2107, 12, 31, 23, 59, 58)),
    ])
    func timesAreThoseOfMSDOS(_ seconds: Int64, _ expected: (Int, Int, Int, Int, Int, Int)) {
        let time = Int(ZIPWriter.time(seconds))
        let (date, clock) = (time >> 16, time & 0xFFFF)
        #expect((date >> 9) + 1980 == expected.0)
        #expect((date >> 5 & 15, date & 31) == (expected.1, expected.2))
        #expect((clock >> 11, clock >> 5 & 63, (clock & 31) * 2) == (expected.3, expected.4, expected.5))
    }
}
