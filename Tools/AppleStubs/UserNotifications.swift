// The members of UserNotifications that the SDKs use, with the signatures of Apple's documentation.
import AppleFoundation

open class UNNotificationContent: NSObject {
    open var userInfo: [AnyHashable: Any] { fatalError() }
}
