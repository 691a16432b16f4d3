/// Pictures for uploads: valid files without content.
public enum SampleImage {
    /// Returns a grey JPEG (ITU-T T.81) of a few hundred bytes.
    public static func jpeg(width: Int, height: Int) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
        // Each table has a single code, "0", which means no difference in brightness and the end of a block.
        func table(_ kind: UInt8) -> [UInt8] { [0xFF, 0xC4, 0, 20, kind, 1] + Array(repeating: 0, count: 16) }
        let quantisation: [UInt8] = [0xFF, 0xDB, 0, 67, 0] + Array(repeating: 1, count: 64)
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8] + word(height) + word(width) + [1, 1, 0x11, 0]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        let bits = ((width + 7) / 8) * ((height + 7) / 8) * 2
        var data = [UInt8](repeating: 0, count: bits / 8)
        if bits % 8 > 0 { data.append(0xFF >> UInt8(bits % 8)) }
        return [0xFF, 0xD8] + quantisation + frame + table(0x00) + table(0x10) + scan + data + [0xFF, 0xD9]
    }

    /// Returns the size in a JPEG's header; nil when the bytes are not a JPEG.
    public static func size(ofJPEG bytes: [UInt8]) -> (width: Int, height: Int)? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var index = 2
        while index + 8 < bytes.count, bytes[index] == 0xFF {
            let marker = bytes[index + 1]
            // This is the header of a frame, baseline or progressive.
            if marker == 0xC0 || marker == 0xC2 {
                return (
                    Int(bytes[index + 7]) << 8 | Int(bytes[index + 8]),
                    Int(bytes[index + 5]) << 8 | Int(bytes[index + 6])
                )
            }
            index += 2 + (Int(bytes[index + 2]) << 8 | Int(bytes[index + 3]))
        }
        return nil
    }
}
