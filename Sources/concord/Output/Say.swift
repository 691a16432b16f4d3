import Foundation

extension FileHandle {
    /// Writes a text for people, such as progress. Whether it arrives does not matter: a reader may have gone, and then
    /// `write(_:)` would end the process.
    func say(_ text: String) { try? write(contentsOf: Data(text.utf8)) }
}
