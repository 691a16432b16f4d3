// The members of AppKit that the SDKs use, with the signatures of Apple's documentation.
import AppleFoundation

@MainActor
open class NSApplication {
    public nonisolated class var didBecomeActiveNotification: NSNotification.Name { fatalError() }
}
