import Contract
import ContractServer
import Database
import WebSockets

/// An API as one value: everything that a server, its command line and its tests need to host it.
///
/// A program that hosts several APIs uses an array of these values. The smallest API gives its title, port and schema,
/// and makes its service:
///
/// ```swift
/// struct HostedGuestbook: HostedAPI {
///     static let key = HostedKey("guestbook", variable: "GUESTBOOK_KEY", loss: "all users are signed out")
///
///     let title = "Guestbook"
///     let port = 8090
///     let keys = [key]
///     let schema = Schema("guestbook", [.init("users and entries", Users.tables + Entries.tables)])
///
///     func makeService(on platform: Platform) throws -> GuestbookService {
///         GuestbookService(on: platform, key: try platform.secret(Self.key))
///     }
/// }
/// ```
///
/// ``Server`` runs such values until the process is asked to stop. Tests call ``compose(on:)`` with a platform of their
/// own.
public protocol HostedAPI: Sendable {
    associatedtype Service: HostedService

    /// The API's name in sentences: `Deuce Diary`. Its name in commands, paths and settings is ``name``.
    var title: String { get }
    /// The port on which the API listens when the operator chooses none.
    var port: Int { get }
    /// The secret keys that the service needs. A server makes those that are missing, and refuses to start a node whose
    /// keys differ from those of the other nodes.
    var keys: [HostedKey] { get }
    /// The tables of the API's database, and the steps that bring an older database up to date.
    var schema: Schema { get }
    /// The name of a table that has a row for each account. A database in which it has rows is in use: a key that is
    /// generated anew for such a database is reported to the operator.
    var accountsTable: String { get }
    /// The default storage limits of one user; nil for an API whose users store at most one file each.
    var storageLimits: StorageLimits? { get }
    /// The paths of the links that an app may open instead of a browser, with the base path; an asterisk stands for any
    /// text. None for an API without such links.
    var linkPaths: [String] { get }
    /// The commands that an operator may give to this API while a server runs.
    var operatorCommands: [any OperatorCommand.Type] { get }
    /// The commands on the tokens that an operator makes for people; nil for an API whose people sign in otherwise.
    var tokenCommands: (any TokenCommands)? { get }

    /// Makes the API's service.
    ///
    /// - Parameter platform: The database, the object store, the keys and whatever else the server offers to this API.
    /// - Throws: An error whose description is for the operator; the server then does not start.
    func makeService(on platform: Platform) throws -> Service
    /// Logs what will not work on this machine. It runs once, at the start.
    func logStartupWarnings(on platform: Platform) async
}

extension HostedAPI {
    /// The API's name in commands, paths and settings: `deuce-diary`.
    public var name: String { Service.API.name }
    /// The path that stands before each of the API's paths: `/api`, or nothing.
    public var basePath: String { Service.API.basePath }
    public var keys: [HostedKey] { [] }
    public var accountsTable: String { "users" }
    public var storageLimits: StorageLimits? { nil }
    public var linkPaths: [String] { [] }
    public var operatorCommands: [any OperatorCommand.Type] { [] }
    public var tokenCommands: (any TokenCommands)? { nil }
    public func logStartupWarnings(on platform: Platform) async {}
    /// Whether the service keeps files in an object store.
    public var storesFiles: Bool { !storedFiles.isEmpty }
    /// The columns of the database whose values name stored files.
    var storedFiles: [StoredFileColumn] { Service.columnsOfFiles }
    /// The columns of the database whose times are compared with the clock.
    var storedTimes: [StoredTime] { Service.storedTimes }
    /// The accounts that an operator finds; nil for an API without commands for people.
    var tableOfPeople: (any PeopleTable.Type)? { Service.tableOfPeople }
    /// How people come to an account.
    var registrationKind: RegistrationKind { Service.registrationKind }
    /// Whether people come to an account without the operator, who can close that door.
    public var hasRegistration: Bool { registrationKind != .byOperator }
    /// Makes the service for a command.
    func makeAnyService(on platform: Platform) throws -> any HostedService { try makeService(on: platform) }
}

/// The service of an API, as the server that hosts it uses it.
///
/// Only ``routes()`` and ``check()`` must be written; the others do nothing by default.
public protocol HostedService: Sendable {
    associatedtype API: ServiceAPI
    /// The authenticated caller of a request, as handlers receive it.
    associatedtype Principal: Sendable

    /// The body of `GET /health` and `GET /ready` when all is well.
    static var healthyBody: String { get }
    /// The columns that ``FileStoringService/storedFiles`` lists; empty for other services.
    static var columnsOfFiles: [StoredFileColumn] { get }
    /// The columns whose times are compared with the clock; none by default. The service's sweep brings back times that lie too
    /// far ahead (``StoredTimes/bringBack(_:at:in:)``), and the start says that there are some.
    static var storedTimes: [StoredTime] { get }
    /// The accounts that operators find; nil for an API without commands for people.
    static var tableOfPeople: (any PeopleTable.Type)? { get }
    /// What operators do with these people; nil for an API without commands for people.
    var peopleDesk: (any PeopleDesk)? { get }
    /// How people come to an account. Unless the operator makes the accounts, the schema has ``Registration/tables``.
    static var registrationKind: RegistrationKind { get }

    /// Returns every operation with its handler.
    func routes() -> Routes<API, Principal>
    /// Returns the API's live sockets.
    func sockets() -> [SocketRoute]
    /// Checks everything that the service depends on, for `GET /ready`.
    func check() async -> [Health.Part]
    /// Brings data up to date that the schema's steps cannot. It runs before the first request.
    func prepare() async throws
    /// Works in the background until the task is cancelled: receives events of other nodes, sends e-mails.
    ///
    /// - Parameter started: Called when every event that is published from now on will be received.
    func listen(_ started: @escaping @Sendable () -> Void) async
    /// Deletes what has expired. It runs once an hour.
    ///
    /// - Parameter limits: The number of stored files that it may remove.
    func sweep(limits: SweepLimits) async throws -> SweepReport
}

extension HostedService {
    public static var healthyBody: String { #"{"status":"ok"}"# }
    public static var columnsOfFiles: [StoredFileColumn] { [] }
    public static var storedTimes: [StoredTime] { [] }
    public static var tableOfPeople: (any PeopleTable.Type)? { nil }
    public var peopleDesk: (any PeopleDesk)? { nil }
    public static var registrationKind: RegistrationKind { .byOperator }
    public func sockets() -> [SocketRoute] { [] }
    public func prepare() async throws {}
    public func listen(_ started: @escaping @Sendable () -> Void) async { started() }
    public func sweep(limits: SweepLimits) async throws -> SweepReport { SweepReport() }
}

/// A service that keeps files in ``Platform/objects``. A server makes sure that the files belong to the database before
/// it lets the service write or remove any.
public protocol FileStoringService: HostedService {
    /// The columns of the database whose values name stored files.
    static var storedFiles: [StoredFileColumn] { get }
}

extension FileStoringService {
    public static var columnsOfFiles: [StoredFileColumn] { storedFiles }
}

/// A secret key of an API: its name, and what an operator has to know of it.
///
/// It can be replaced while the server runs; what the former one has signed is accepted until the operator drops it. The
/// first key of random bytes also signs the URLs of the files that the API keeps in the data folder.
public struct HostedKey: Sendable {
    public enum Form: Sendable {
        /// A secret of at least 32 random bytes.
        case secret
        /// An RSA private key, with which the server issues tokens (`LocalIssuer`).
        case rsa
    }

    /// The name of the key's file in the data folder's `keys`: `messenger-tokens`.
    public let name: String
    /// The environment variable that replaces the file.
    public let variable: String
    public let form: Form
    /// The consequence of a changed key, as a phrase for the operator: "all users are signed out".
    public let loss: String

    public init(_ name: String, variable: String, form: Form = .secret, loss: String) {
        self.name = name
        self.variable = variable
        self.form = form
        self.loss = loss
    }
}

/// The storage limits of one user of an API.
public struct StorageLimits: Sendable {
    /// The size of all files of one user, in bytes.
    public var quota: Int64
    /// The number of uploads of one user in an hour.
    public var uploadsPerHour: Int
    /// The things that are uploaded, for help texts: "posts and photos".
    public var uploads: String

    public init(quota: Int64, uploadsPerHour: Int, uploads: String = "files") {
        self.quota = quota
        self.uploadsPerHour = uploadsPerHour
        self.uploads = uploads
    }
}
