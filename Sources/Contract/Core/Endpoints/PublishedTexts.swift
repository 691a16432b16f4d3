/// A request with texts that strangers read: messages, posts, comments, and the names of people and groups.
///
/// A server may hold a list of words against them, and refuses the request with 400.
public protocol PublishesTexts: Endpoint {
    /// The texts that strangers read, as they were sent; nil for those that were not.
    var publishedTexts: [String?] { get }
}
