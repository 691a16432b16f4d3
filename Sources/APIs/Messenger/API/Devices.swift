import Contract

/// Push notifications: additions to the contract.
///
/// A device that is registered is notified of messages in the user's chats, unless the user has a live socket that is
/// subscribed to the chat. The registration ends with the session in which it was made.
extension Messenger {
    static let devices = Section("Devices", [RegisterDevice.self, RemoveDevice.self])

    /// The push service that knows a device. An app that Xcode has installed has the sandbox.
    public struct PushEnvironment: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Apps from the App Store and TestFlight.
        public static let production = PushEnvironment(rawValue: "production")
        /// Apps that are being developed.
        public static let sandbox = PushEnvironment(rawValue: "sandbox")
    }

    /// `POST /devices`: registers this device for push notifications. A token that is known already moves to the caller and
    /// this session, and is answered with 200 instead of 201.
    ///
    /// A user has at most ``maximum`` devices: when there is one more, the one that was registered first goes.
    public struct RegisterDevice: Endpoint {
        public static let route = Route.post("/devices", .created, idempotencyKey: true)
        public typealias Output = Device
        /// The maximum number of devices of one user.
        public static let maximum = 20
        /// The maximum length of ``token``, in hexadecimal digits.
        public static let maximumToken = 200

        /// The token of Apple's push service, in hexadecimal digits: two for each byte, at most ``maximumToken``.
        public var token: String
        /// The push service that knows the token.
        public var environment: PushEnvironment
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) {
            guard !token.isEmpty, token.utf8.count <= Self.maximumToken, token.utf8.count.isMultiple(of: 2),
                token.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 || 0x61...0x66 ~= $0 })
            else {
                throw Problem(.badRequest, "token must be 2 to \(Self.maximumToken) hexadecimal digits")
            }
            guard environment == .production || environment == .sandbox else {
                throw Problem(.badRequest, "environment must be 'production' or 'sandbox'")
            }
        }
    }

    /// `DELETE /devices/{id}`: removes a device, which is no longer notified.
    ///
    /// Throws 404 "Device not found", also for another user's device.
    public struct RemoveDevice: Endpoint {
        public static let route = Route.delete("/devices/{id}", .noContent)
        public typealias Output = Empty

        /// The device to remove.
        public var id: Device.ID
        private init(derived: Never) { switch derived {} }
    }

    /// A device that is registered for push notifications.
    public struct Device: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Device>

        /// The device's id.
        public var id: ID
        /// The token of Apple's push service, in lower-case hexadecimal digits.
        public var token: String
        /// The push service that knows the token.
        public var environment: PushEnvironment
        private init(derived: Never) { switch derived {} }
    }
}
