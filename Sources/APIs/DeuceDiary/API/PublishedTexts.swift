import Contract

// The texts that others read. A server's list of words is held against these, and no others.

extension DeuceDiary.UpdateUser: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [username] }
}

extension DeuceDiary.CreateGroup: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [name, description] }
}

extension DeuceDiary.LogDeuce: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [location, thoughts] }
}

extension DeuceDiary.CreateLocation: PublishesTexts {
    /// The texts that strangers read.
    public var publishedTexts: [String?] { [name] }
}
