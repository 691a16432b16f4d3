import Contract

// The texts that strangers read. A server's list of words is held against these, and no others.

extension Dunbar.Register: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [username, displayName] }
}

extension Dunbar.UpdateUser: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [displayName, bio] }
}

extension Dunbar.CreatePost: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [content] }
}

extension Dunbar.AddComment: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [content] }
}
