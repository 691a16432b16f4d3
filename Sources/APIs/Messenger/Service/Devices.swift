import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func devices(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: registerDevice)
        routes.on(use: removeDevice)
    }

    func registerDevice(
        _ request: Messenger.RegisterDevice, from user: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Messenger.Device> {
        let now = time.milliseconds()
        let session = try await caller(info).session
        return try await database.write(info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now) { db in
            try Users.lockCaller(user, in: db)
            // A session that ends meanwhile waits for this transaction, and takes the device along.
            guard try db.lock("sessions", where: "id = \(session)") > 0 else { throw Sessions.invalidToken }
            let (device, isNew) = try Devices.register(request, of: user, session: session, at: now, in: db)
            try Devices.removeOldest(of: user, except: device.id, in: db)
            return Answer(isNew ? .created : .ok, device)
        }
    }

    func removeDevice(_ request: Messenger.RemoveDevice, from user: Messenger.User.ID) async throws -> Empty {
        try await database.write { db in
            guard try db.run("DELETE FROM devices WHERE id = \(request.id) AND user_id = \(user)") == 1 else {
                throw Devices.notFound
            }
        }
        return Empty()
    }
}

/// The devices that are registered for push notifications. A device's row goes with its session's.
enum Devices {
    static let notFound = Problem(.notFound, "Device not found")

    /// Adds a device, or moves the one with this token to the caller.
    ///
    /// - Returns: The device, and whether its token was unknown.
    fileprivate static func register(
        _ request: Messenger.RegisterDevice, of user: Messenger.User.ID, session: String, at now: Int64, in db: Session
    ) throws -> (Messenger.Device, isNew: Bool) {
        let (token, environment) = (request.token.lowercased(), request.environment)
        func device(_ id: Messenger.Device.ID) -> Messenger.Device {
            .init(id: id, token: token, environment: environment)
        }
        // A device that is found by its token may be removed before it can be moved.
        for _ in 0..<8 {
            let new: Messenger.Device.ID? = try db.insert(
                """
                INSERT INTO devices (user_id, session_id, token, environment, registered_at)
                VALUES (\(user), \(session), \(token), \(environment), \(now))
                ON CONFLICT (token) DO NOTHING
                """)
            if let new { return (device(new), true) }
            let moved: Messenger.Device.ID? = try db.value(
                """
                UPDATE devices SET user_id = \(user), session_id = \(session), environment = \(environment),
                    registered_at = \(now)
                WHERE token = \(token) RETURNING id
                """)
            if let moved { return (device(moved), false) }
        }
        throw DatabaseFailure.failed("a device is neither new nor there")
    }

    /// Removes the devices that were registered first, so that a user has no more than the maximum.
    fileprivate static func removeOldest(
        of user: Messenger.User.ID, except device: Messenger.Device.ID, in db: Session
    ) throws {
        try db.run(
            """
            DELETE FROM devices WHERE user_id = \(user) AND id <> \(device) AND id NOT IN (
                SELECT id FROM devices WHERE user_id = \(user) AND id <> \(device)
                ORDER BY registered_at DESC, id DESC LIMIT \(Messenger.RegisterDevice.maximum - 1))
            """)
    }

    /// Removes a device whose token is not valid any more, unless it has been registered after that was found.
    static func remove(_ id: Messenger.Device.ID, token: String, registeredBefore time: Int64, in db: Session) throws {
        try db.run(
            "DELETE FROM devices WHERE id = \(id) AND token = \(token) AND registered_at <= \(time)")
    }
}

extension Messenger.PushEnvironment: SQLConvertible {}
