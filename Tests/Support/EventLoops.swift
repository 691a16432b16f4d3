public import NIOPosix

extension MultiThreadedEventLoopGroup {
    /// The event loops of the servers within this process. There are more than cores: hundreds of tests run at once, in
    /// debug builds, and a handler that takes long must not hold up the servers of all others.
    public static let ofTests = MultiThreadedEventLoopGroup(numberOfThreads: 16)
}
