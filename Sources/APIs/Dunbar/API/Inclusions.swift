import Contract

extension Dunbar {
    /// Optional parts of a list, as words with commas between. An addition to the contract; unknown words are ignored.
    public struct Inclusions: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word that asks whether the caller follows each user of a list, or has asked to.
        public static let relationship = Inclusions(rawValue: "relationship")

        /// Returns whether a word is among these.
        public func contains(_ word: Inclusions) -> Bool {
            rawValue.split(separator: ",").contains { String($0).trimmed == word.rawValue }
        }
    }
}
