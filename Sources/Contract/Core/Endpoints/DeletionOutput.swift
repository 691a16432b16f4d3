/// An output of operations that delete, which a client can make up: when the answer to a deletion was lost and its repeat
/// finds nothing, the deletion has succeeded.
public protocol DeletionOutput {
    /// The output of a deletion whose own answer was lost.
    static var alreadyDeleted: Self { get }
}

extension Empty: DeletionOutput {
    /// The output of a deletion whose own answer was lost.
    public static var alreadyDeleted: Empty { Empty() }
}
