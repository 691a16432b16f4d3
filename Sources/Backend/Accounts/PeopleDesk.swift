import ContractServer
import Database
import Identity
import Logging
import NIOPosix
import ObjectStore

/// What operators do with the people of one API (`concord people`): how a session ends, what sockets hear, and what belongs
/// to an account. The commands do the rest.
public protocol PeopleDesk: Sendable {
    associatedtype Table: PeopleTable

    var time: TimeSource { get }
    /// Counts failed sign-ins; nil for an API whose users sign in elsewhere.
    var signIns: SignInThrottle? { get }

    /// What people and operators get with all that the server keeps of a person.
    var archives: Archives<Table> { get }

    /// Ends all sessions of a person, with their sockets on every node.
    ///
    /// - Returns: The number of sessions; nil where the server does not know how many there are.
    func endSessions(of person: Table.ID, at now: Int64, in db: Session) throws -> Int?
    /// Closes the sockets of a person on every node, and makes this node ask the database again who may use the account.
    func closeSockets(of person: Table.ID, at now: Int64, in db: Session) throws
    /// Refuses that a person is deleted or suspended: the last admin.
    ///
    /// - Throws: ``OperatorError``.
    func requireDispensable(_ person: Table.ID, at now: Int64, in db: Session) throws
    /// Makes a token by which a person sets a new password (``AccountEmails/makeReset(_:of:isSent:at:in:)``).
    ///
    /// - Returns: The person's address.
    /// - Throws: ``OperatorError`` for an API whose users have no passwords.
    func makeReset(
        _ token: String, of person: Table.ID, isSent: Bool, at now: Int64, in db: Session
    ) throws -> String
    /// Deletes a person with everything that belongs to them, as the API's own deletion does. It takes the locks.
    ///
    /// - Returns: What is to be done once the transaction is durable, such as removing files.
    func delete(_ person: Table.ID, at now: Int64, in db: Session) throws -> @Sendable () async -> Void
}

extension PeopleDesk {
    public var signIns: SignInThrottle? { nil }
    public func requireDispensable(_ person: Table.ID, at now: Int64, in db: Session) throws {}
    public func makeReset(
        _ token: String, of person: Table.ID, isSent: Bool, at now: Int64, in db: Session
    ) throws -> String { throw OperatorError("The users of this API have no passwords") }
}

extension PeopleDesk {
    /// Makes archives until the task is cancelled. Each node calls it once.
    public func makeArchives(logger: Logger) async {
        await archives.run { error, isTriedAgain in
            let next = isTriedAgain ? "it is tried again" : "it was given up"
            logger.warning("an archive was not made, \(next)", metadata: ["error": "\(error)"])
        }
    }

    /// Removes archives that are over.
    public func sweepArchives() async throws { try await archives.sweep() }
}

extension OperatorContext {
    /// Returns the desk of the API's service: the one that the server serves, or one that is made for this command.
    func people() throws -> any PeopleDesk {
        guard let desk = try (service ?? madeService()).peopleDesk else {
            throw OperatorError("\(api.title) has no commands for people")
        }
        return desk
    }

    private func madeService() throws -> any HostedService {
        var logger = Logger(label: api.name)
        logger.logLevel = .error
        return try api.makeAnyService(
            on: Platform(
                database: database, objects: api.storesFiles ? try makeObjects() : nil, secrets: secrets,
                passwords: Passwords(), group: MultiThreadedEventLoopGroup.singleton, logger: logger,
                publicURL: publicURL, folder: secrets.folder, environment: secrets.environment))
    }

    /// Makes the store of a service that a command makes: the one in the data folder. Files of another store that the command
    /// leaves without a row are removed by a server's sweep.
    public func makeObjects() throws -> any ObjectStore {
        try LocalObjectStore(
            folder: "\(secrets.folder)/files/\(api.name)", keys: { [] }, baseURL: publicURL + "/objects",
            now: { TimeSource.system.seconds })
    }
}
