import Contract

// The texts that strangers read. A server's list of words is held against these, and no others.

extension Messenger.Register: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [username, displayName] }
}

extension Messenger.UpdateMe: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [displayName, bio.given] }
}

extension Messenger.CreateChat: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [name] }
}

extension Messenger.SendMessage: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [content] }
}

extension Messenger.EditMessage: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [content] }
}
