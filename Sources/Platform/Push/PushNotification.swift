/// A notification for one device.
public struct PushNotification: Sendable {
    /// The maximum size of ``payload``, in bytes.
    public static let maximumPayload = 4096
    /// The maximum length of ``collapseID``, in bytes.
    public static let maximumCollapseID = 64

    /// The kind of a notification (`apns-push-type`).
    public enum Kind: String, Sendable {
        /// It is shown to the user.
        case alert
        /// It wakes the app.
        case background
    }

    /// The importance of a notification (`apns-priority`).
    public enum Priority: Int, Sendable {
        /// The device shows it at once.
        case immediate = 10
        /// The device may wait, to save its battery.
        case considerate = 5
    }

    public var device: PushDevice
    /// The notification as JSON, an object with the member `aps`; at most ``maximumPayload`` bytes.
    public var payload: [UInt8]
    public var kind: Kind
    public var priority: Priority
    /// The time in Unix seconds after which it is no longer delivered to the device.
    public var expiresAt: Int64
    /// Notifications with the same id replace each other on the device; at most ``maximumCollapseID`` bytes.
    public var collapseID: String?

    public init(
        to device: PushDevice, payload: [UInt8], kind: Kind = .alert, priority: Priority = .immediate,
        expiresAt: Int64, collapseID: String? = nil
    ) {
        self.device = device
        self.payload = payload
        self.kind = kind
        self.priority = priority
        self.expiresAt = expiresAt
        self.collapseID = collapseID
    }
}

/// A device as Apple's push service knows it.
public struct PushDevice: Hashable, Sendable {
    /// The service that knows the device: an app that was installed by Xcode has the sandbox.
    public enum Environment: String, Sendable {
        case production
        case sandbox
    }

    /// The device's token, in hexadecimal digits.
    public var token: String
    public var environment: Environment

    public init(token: String, environment: Environment) {
        self.token = token
        self.environment = environment
    }
}

/// The outcome of an attempt to send a notification.
public enum PushOutcome: Hashable, Sendable {
    /// Apple has taken it. Whether it reaches the device is not known.
    case sent
    /// The token is not valid any more: the device must be forgotten. `since` is APNs' timestamp in milliseconds, if
    /// given.
    case gone(reason: String, since: Int64?)
    /// Apple refuses it, and would again.
    case refused(reason: String)
    /// It can be sent later: after this time in milliseconds, where Apple names one.
    case postponed(reason: String, retryAfter: Int64?)
}
