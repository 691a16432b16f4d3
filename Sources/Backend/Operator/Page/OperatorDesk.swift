import Contract
import ContractServer
import Foundation
import HTTPTypes
import Identity
import PrometheusMetrics

/// The server as the operations of the operator's page see it: its commands, its sign-ins, its metrics and its backups.
struct OperatorDesk: Sendable {
    let commands: CommandRunner
    let sessions: OperatorSessions
    let registry: PrometheusRegistry
    let traffic: Traffic
    let backup: PageBackup

    /// - Parameter backups: The outcome of the last scheduled backup.
    init(commands: CommandRunner, sessions: OperatorSessions, registry: PrometheusRegistry, backups: BackupState) {
        self.commands = commands
        self.sessions = sessions
        self.registry = registry
        traffic = Traffic(registry)
        backup = PageBackup(commands: commands, scheduled: backups)
    }

    var settings: ServerSettings { commands.settings }

    // MARK: Who asks

    /// Refuses a request that the page of another site sent, or that came over a network in plain text.
    @Sendable func admit(_ method: HTTPRequest.Method, _ info: RequestInfo) throws {
        let isSecure = info.origin?.text?.hasPrefix("https://") == true
        guard info.address.isThisMachine || isSecure else {
            throw Problem(
                .forbidden,
                """
                The operator's page is for this machine, or behind a proxy with TLS whose address is named with \
                --trusted-proxy. Over SSH: ssh -L 8090:127.0.0.1:8090 HOST
                """, headers: Self.headers)
        }
        try OriginPolicy([]).admit(method, info, OperatorAPI.errorMessages)
        // Another port of this machine is the same site, so its pages could read with the cookie, too.
        let site = info.headers[.secFetchSite] ?? "none"
        guard ["same-origin", "none"].contains(site) else {
            throw Problem(.forbidden, OperatorAPI.errorMessages.foreignOrigin, headers: Self.headers)
        }
    }

    /// Returns the session of a request.
    ///
    /// - Throws: 401, which says how to get in.
    @Sendable func authenticate(_ info: RequestInfo) throws -> OperatorSession {
        guard let session = sessions.session(of: cookie(info).tokens(in: info.headers[values: .cookie])) else {
            throw Problem(.unauthorized, "Sign in with a link: run 'concord operator link'", headers: Self.headers)
        }
        return session
    }

    func signIn(_ request: OperatorAPI.SignIn, _ info: RequestInfo) throws -> Answer<OperatorAPI.Session> {
        guard let (token, session) = sessions.signIn(with: request.token) else {
            throw Problem(
                .unauthorized, "This link was used, or is older than 15 minutes: run 'concord operator link' again",
                headers: Self.headers)
        }
        settings.logger.notice("operator signed in", metadata: ["name": "\(session.name)", "role": "\(session.role)"])
        sessions.end(cookie(info).tokens(in: info.headers[values: .cookie]))
        var headers = Self.headers
        headers[.setCookie] = cookie(info).setting(token, for: OperatorSessions.lifetime / 1000)
        return Answer(.ok, shown(session), headers: headers)
    }

    func signOut(_ info: RequestInfo) -> Answer<Empty> {
        sessions.end(cookie(info).tokens(in: info.headers[values: .cookie]))
        return Answer(.noContent, headers: [.setCookie: cookie(info).clearing])
    }

    /// The cookie of a session. Cookies do not know ports, so its name has the one that the browser asked: two servers of a
    /// machine do not sign each other's operators out.
    private func cookie(_ info: RequestInfo) -> SessionCookie {
        let origin = info.origin?.text ?? ""
        let port = origin.split(separator: ":").dropFirst(2).last.map { "_\($0)" } ?? ""
        return SessionCookie(
            name: OperatorAPI.cookieName + port, isSecure: origin.hasPrefix("https://"), isStrict: true)
    }

    func shown(_ session: OperatorSession) -> OperatorAPI.Session {
        let apis = commands.running.compactMap { api in
            api.hosted.tableOfPeople.map { table in
                OperatorAPI.Session.API(
                    name: api.name, title: api.hosted.title, hasPasswords: api.service.peopleDesk?.signIns != nil,
                    hasReports: table.hasReports, hasTokens: api.hosted.tokenCommands != nil)
            }
        }
        return OperatorAPI.Session(
            name: session.name, role: session.role, expiresAt: .init(milliseconds: session.expiresAt),
            version: settings.version, apis: apis)
    }

    // MARK: Commands

    /// Performs a command of an API, and returns what it prints.
    func perform<Command: OperatorCommand>(
        _ command: Command, of api: String, for session: OperatorSession
    ) async throws -> KeptOutput {
        let console = KeptOutput()
        try await perform(command, of: api, for: session, on: console)
        return console
    }

    /// Performs a command for the whole server, and returns what it prints.
    func perform<Command: ServerCommand>(_ command: Command, for session: OperatorSession) async throws -> KeptOutput {
        let console = KeptOutput()
        try Self.require(Command.role, of: session)
        try await perform(Command.name, of: nil, JSONEncoder().encode(command), for: session, on: console)
        return console
    }

    func perform<Command: OperatorCommand>(
        _ command: Command, of api: String, for session: OperatorSession, on console: some OperatorConsole
    ) async throws {
        try Self.require(Command.role, of: session)
        guard commands.known.contains(where: { $0.name == api }) else {
            throw Problem(.notFound, "There is no API '\(api.prefix(100))'", headers: Self.headers)
        }
        try await perform(Command.name, of: api, JSONEncoder().encode(command), for: session, on: console)
    }

    private func perform(
        _ name: String, of api: String?, _ arguments: Data, for session: OperatorSession,
        on console: some OperatorConsole
    ) async throws {
        let request = OperatorRequest(
            operation: name, api: api, arguments: arguments, database: nil, actor: session.name)
        do throws(OperatorError) {
            try await commands.perform(request, on: console)
        } catch { throw Problem(.conflict, error.description) }
    }

    /// Performs a command of an API that prints one entry, and answers that entry.
    func entry<Command: OperatorCommand & PrintingCommand>(
        _ command: Command, of api: String, for session: OperatorSession
    ) async throws -> Answer<Command.Entry> {
        Answer(.ok, encoded: try await perform(command, of: api, for: session).bytes)
    }

    /// Performs a command for the whole server that prints a list, and answers its entries.
    func entries<Command: ServerCommand & PrintingCommand>(
        _ command: Command, for session: OperatorSession
    ) async throws -> Answer<[Command.Entry]> {
        Answer(.ok, encoded: try await perform(command, for: session).array)
    }

    /// - Throws: 403 for an operator who may not do it.
    static func require(_ role: OperatorRole, of session: OperatorSession) throws {
        guard session.may(role) else {
            throw Problem(.forbidden, "Your link gives the role \(session.role.rawValue), and this needs the role all")
        }
    }

    /// The headers of every answer.
    static let headers: HTTPFields = [.cacheControl: "no-store", .operatorReferrerPolicy: "no-referrer"]
}

extension HTTPField.Name {
    static let secFetchSite = Self("Sec-Fetch-Site")!
    static let operatorReferrerPolicy = Self("Referrer-Policy")!
}
