import Contract

extension Messenger {
    /// Optional parts of a list, as words with commas between. An addition to the contract; unknown words are ignored.
    public struct Inclusions: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word that asks for a chat's number of unread messages.
        public static let unread = Inclusions(rawValue: "unread")
        /// The word that asks for the time at which a message was edited.
        public static let edited = Inclusions(rawValue: "edited")
        /// The word that asks for the name, media type and size of a message's file.
        public static let file = Inclusions(rawValue: "file")

        /// The word that asks for the other user of a direct chat.
        public static let peer = Inclusions(rawValue: "peer")
        /// The word that asks for a chat's newest message.
        public static let newest = Inclusions(rawValue: "newest")

        /// The word that asks whether the caller has muted a chat.
        public static let muted = Inclusions(rawValue: "muted")

        /// Returns the words of several.
        public static func all(_ words: Inclusions...) -> Inclusions {
            Inclusions(rawValue: words.map(\.rawValue).joined(separator: ","))
        }

        /// Returns whether a word is among these.
        public func contains(_ word: Inclusions) -> Bool {
            rawValue.split(separator: ",").contains { String($0).trimmed == word.rawValue }
        }
    }
}
