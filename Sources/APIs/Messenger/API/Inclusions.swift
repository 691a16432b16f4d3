import Contract

extension Messenger {
    /// What a list is to tell beside its usual keys, words with commas between. An addition to the contract; unknown
    /// words are ignored.
    public struct Inclusions: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// How many messages of a chat are unread.
        public static let unread = Inclusions(rawValue: "unread")
        /// When a message was edited.
        public static let edited = Inclusions(rawValue: "edited")

        /// Whether the word is among these.
        public func contains(_ word: Inclusions) -> Bool {
            rawValue.split(separator: ",").contains { String($0).trimmed == word.rawValue }
        }
    }
}
