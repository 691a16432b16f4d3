import NIOCore
import NIOPosix

/// One object for each event loop, made when it is first asked for, and used on the loop only.
package final class LoopLocal<Value: AnyObject> {
    private final class Kept {
        let eventLoop: any EventLoop
        let value: Value

        init(_ eventLoop: any EventLoop, _ value: Value) { (self.eventLoop, self.value) = (eventLoop, value) }
    }

    private let kept = ThreadSpecificVariable<Kept>()

    package init() {}

    /// Returns the object of the event loop on which it is called.
    package func value(of eventLoop: any EventLoop, orMake make: () -> Value) -> Value {
        eventLoop.preconditionInEventLoop()
        // The event loops of tests share a thread, which knows the last one only.
        if let kept = kept.currentValue, kept.eventLoop === eventLoop { return kept.value }
        let value = make()
        kept.currentValue = Kept(eventLoop, value)
        return value
    }
}
