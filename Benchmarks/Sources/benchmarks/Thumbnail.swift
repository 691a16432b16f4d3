import Foundation

extension Benchmark {
    static let thumbnail = Benchmark(
        name: "thumbnail", abstract: "a JPEG of 12 megapixels becomes one of 200 by 200, in the helper process"
    ) { setting in
        let helper = URL(fileURLWithPath: setting.concord).deletingLastPathComponent().appendingPathComponent(
            "thumbnail")
        guard FileManager.default.isExecutableFile(atPath: helper.path) else {
            throw Failed("\(helper.path) is needed: swift build -c release --product thumbnail")
        }
        return try await Leftovers.withFolder { folder in
            let (photo, tiny) = (folder + "/photo.jpg", folder + "/tiny.png")
            try Picture.png(width: 4000, height: 3000).write(to: URL(fileURLWithPath: folder + "/photo.png"))
            try Picture.png(width: 16, height: 16).write(to: URL(fileURLWithPath: tiny))
            // The helper itself makes the JPEG.
            let made = try Spawn.bytes(of: helper.path, ["--fit", "4000"], input: folder + "/photo.png").output
            try made.write(to: URL(fileURLWithPath: photo))

            var (times, floors): ([Run], [Run]) = ([], [])
            for _ in 0..<15 {
                times.append(try Run(helper.path, photo))
                floors.append(try Run(helper.path, tiny))
            }
            let beside = "an image of 16 by 16: the process and its libraries alone"
            let name = "thumbnail of \(made.count / 1000) kB"
            return [
                Row(
                    name: name + ", time", unit: "ms", result: times.map(\.wall).median,
                    floor: floors.map(\.wall).median, beside: beside),
                Row(
                    name: name + ", CPU", unit: "ms", result: times.map(\.cpu).median, floor: floors.map(\.cpu).median,
                    beside: beside),
            ]
        }
    }

    /// One picture, in milliseconds.
    private struct Run {
        let wall: Double
        let cpu: Double

        init(_ helper: String, _ image: String) throws {
            let start = ContinuousClock.now
            let (output, cpu) = try Spawn.bytes(of: helper, ["--crop", "200"], input: image)
            guard output.starts(with: [0xFF, 0xD8]) else { throw Failed("\(helper) made no JPEG") }
            self.cpu = cpu.inMilliseconds
            wall = (ContinuousClock.now - start).inMilliseconds
        }
    }
}

/// Pictures to make thumbnails of.
enum Picture {
    /// Returns a PNG (ISO/IEC 15948) of hills and noise, uncompressed. It is about as much work for a JPEG decoder as a
    /// photo.
    static func png(width: Int, height: Int) -> Data {
        var pixels = [UInt8]()
        pixels.reserveCapacity((width * 3 + 1) * height)
        var noise: UInt32 = 1
        for y in 0..<height {
            pixels.append(0)
            for x in 0..<width {
                noise = noise &* 1_664_525 &+ 1_013_904_223
                let hills = 96 + 80 * sin(Double(x) / 160) * cos(Double(y) / 120)
                let grain = Double(noise >> 28)
                pixels.append(UInt8(hills + grain))
                pixels.append(UInt8(hills / 2 + grain))
                pixels.append(UInt8(200 - hills / 2 + grain))
            }
        }
        let header = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 2, 0, 0, 0]
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + chunk("IHDR", header)
            + chunk("IDAT", stored(pixels)) + chunk("IEND", [])
    }

    /// Returns the content in blocks without compression (RFC 1950, RFC 1951 §3.2.4).
    private static func stored(_ content: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        result.reserveCapacity(content.count + content.count / 6000 + 16)
        var (a, b): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: content.count, by: 65_535) {
            let block = content[start..<min(start + 65_535, content.count)]
            let size = UInt16(block.count)
            result.append(block.endIndex == content.count ? 1 : 0)
            result += [UInt8(size & 0xFF), UInt8(size >> 8), UInt8(~size & 0xFF), UInt8(~size >> 8)]
            result += block
        }
        for byte in content {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return result + bytes(b << 16 | a)
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> Data {
        let body = Array(type.utf8) + content
        var crc: UInt32 = ~0
        for byte in body { crc = crcTable[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8 }
        return Data(bytes(UInt32(content.count)) + body + bytes(~crc))
    }

    private static let crcTable: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }

    private static func bytes(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
}
