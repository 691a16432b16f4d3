import Foundation

/// A stand-in for the image library, which has tests of its own. It keeps an image's head and adds a mark, and refuses
/// a file that ends in "broken".
public enum SampleImages {
    /// The end of each image.
    public static let mark = Array("processed".utf8)

    /// Returns what becomes of the image in a file; nil for a file that is none, or cut off.
    public static func processed(_ path: String) throws -> [UInt8]? {
        let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        guard !file.suffix(6).elementsEqual("broken".utf8) else { return nil }
        let isCutOff = file.starts(with: [0xFF, 0xD8]) && Data(file).range(of: Data([0xFF, 0xD9])) == nil
        if isCutOff { return nil }
        return Array(file.prefix(64)) + mark
    }
}
