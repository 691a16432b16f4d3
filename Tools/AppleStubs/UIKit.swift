// The members of UIKit that the SDKs use, with the signatures of Apple's documentation.
import AppleFoundation

@MainActor
open class UIApplication {
    public nonisolated class var didBecomeActiveNotification: NSNotification.Name { fatalError() }
}
