import Foundation

/// Maps the names of character sets in vCards to encodings.
enum Charset {
    /// - Returns: The encoding; nil for an unknown name. Foundation may not have its table on every system; then it
    ///   decodes no text.
    static func encoding(named name: String) -> String.Encoding? {
        let name = name.uppercased().filter { $0.isLetter || $0.isNumber }
        if let encoding = plain[name] { return encoding }
        // These encodings have no constants in Foundation, only Core Foundation's numbers.
        return numbered[name].map { String.Encoding(rawValue: 0x8000_0000 | $0) }
    }

    private static let plain: [String: String.Encoding] = [
        "UTF8": .utf8, "UTF16": .utf16, "UTF16BE": .utf16BigEndian, "UTF16LE": .utf16LittleEndian, "USASCII": .ascii,
        "ASCII": .ascii, "ISO88591": .windowsCP1252, "LATIN1": .windowsCP1252, "WINDOWS1252": .windowsCP1252,
        "CP1252": .windowsCP1252, "ISO88592": .isoLatin2, "LATIN2": .isoLatin2, "WINDOWS1250": .windowsCP1250,
        "CP1250": .windowsCP1250, "WINDOWS1251": .windowsCP1251, "CP1251": .windowsCP1251,
        "WINDOWS1253": .windowsCP1253, "CP1253": .windowsCP1253, "WINDOWS1254": .windowsCP1254,
        "CP1254": .windowsCP1254, "SHIFTJIS": .shiftJIS, "SJIS": .shiftJIS,
        "XSJIS": .shiftJIS, "WINDOWS31J": .shiftJIS, "CP932": .shiftJIS, "ISO2022JP": .iso2022JP,
        "MACINTOSH": .macOSRoman,
    ]

    private static let numbered: [String: UInt] = [
        "ISO88593": 0x0203, "ISO88594": 0x0204, "ISO88595": 0x0205, "ISO88596": 0x0206, "ISO88597": 0x0207,
        "ISO88598": 0x0208, "ISO88599": 0x0209, "ISO885910": 0x020A, "ISO885913": 0x020D, "ISO885914": 0x020E,
        "ISO885915": 0x020F, "LATIN9": 0x020F, "WINDOWS1255": 0x0505, "WINDOWS1256": 0x0506, "WINDOWS1257": 0x0507,
        "WINDOWS1258": 0x0508, "CP1255": 0x0505, "CP1256": 0x0506, "CP1257": 0x0507, "CP1258": 0x0508,
        "ISO885911": 0x020B, "TIS620": 0x041D, "CP874": 0x041D, "WINDOWS874": 0x041D, "ISO885916": 0x0210,
        "CP437": 0x0400, "IBM437": 0x0400, "CP850": 0x0410, "IBM850": 0x0410, "CP852": 0x0412, "IBM852": 0x0412,
        "CP866": 0x041B, "IBM866": 0x041B, "CP949": 0x0422, "UHC": 0x0422, "CP950": 0x0423, "CP936": 0x0421,
        "EUCTW": 0x0931, "BIG5HKSCS": 0x0A06, "EUCJP": 0x0920, "EUCKR": 0x0940, "KSC56011987": 0x0940,
        "GB18030": 0x0632,
        "GBK": 0x0632, "GB2312": 0x0632, "BIG5": 0x0A03, "KOI8R": 0x0A02, "KOI8U": 0x0A08,
    ]

    /// Decodes a file with a byte order mark; nil for a file without one.
    static func decode(byteOrderMarked bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return String(validating: bytes.dropFirst(3), as: UTF8.self) }
        guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) else { return nil }
        return String(data: Data(bytes), encoding: .utf16)
    }

    /// Decodes bytes as Windows-1252, which is the most likely encoding and accepts every byte.
    static func guess(_ bytes: [UInt8]) -> String {
        String(data: Data(bytes), encoding: .windowsCP1252) ?? String(decoding: bytes, as: UTF8.self)
    }
}
