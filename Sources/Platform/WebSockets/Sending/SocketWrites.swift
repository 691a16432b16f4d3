package import NIOCore

/// The sockets of an event loop, together.
package enum SocketWrites {
    /// Runs an action when the sockets have sent the frames that they were given, as far as the kernel takes them, or when so
    /// many have sent that the loop does its other work first.
    ///
    /// - Precondition: It is called on the event loop.
    package static func whenDone(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        FlushQueue.current(of: eventLoop).whenDone(action)
    }

    /// Gives sockets frames when it is their turn to send, so that they send at once all that there is for them by then.
    ///
    /// - Precondition: It is called on the event loop.
    /// - Parameter serve: Gives frames to as many sockets as its parameter says, and returns how many those were: fewer if
    ///   there are no more.
    package static func inTurns(on eventLoop: any EventLoop, _ serve: @escaping (_ limit: Int) -> Int) {
        FlushQueue.current(of: eventLoop).add(batch: serve)
    }
}
