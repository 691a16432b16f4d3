import Contract
import ContractClient
import Foundation
import HTTPTypes
import MonicaAPI

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Monica for an app: this project's server, or any Monica 4.
///
/// ```swift
/// let monica = MonicaAPIClient(configuration: .selfHosted(url: url, token: token))
/// let page = try await monica.listContacts(page: 1, limit: 50, query: "john")
/// for contact in page.data { print(contact.completeName) }
/// ```
///
/// Requests that read are sent again after a network error, 429 and 5xx. Identical ones within five seconds are sent
/// once. Without a network, the last answer is returned again. A client may be used from any task.
public struct MonicaAPIClient: MonicaAPIClientProtocol {
    /// The server and the token.
    public let configuration: APIConfiguration
    private let transport: any Transport
    private let cache: any ResponseCache
    private let backoff: Backoff
    private let requests: InFlightRequests
    private let habits = ServerHabits()

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - configuration: The server and the token for it.
    ///   - transport: Carries requests.
    ///   - cache: Stores answers for times without a network.
    ///   - backoff: The waits before repeats.
    ///   - now: Returns the time, which decides whether an answer is fresh.
    public init(
        configuration: APIConfiguration, transport: (any Transport)? = nil,
        cache: any ResponseCache = MemoryResponseCache(), backoff: Backoff = Backoff(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.transport = transport ?? Self.transport(timeout: configuration.timeout)
        self.cache = cache
        self.backoff = backoff
        requests = InFlightRequests(now: now)
    }

    private static func transport(timeout: TimeInterval) -> any Transport {
        let configuration = URLSessionConfiguration.monica
        configuration.timeoutIntervalForRequest = timeout
        return URLSessionTransport(configuration: configuration)
    }

    // MARK: Any operation

    /// Sends any request of the API, including those that this project adds to the contract.
    ///
    /// - Parameters:
    ///   - request: An operation of ``Monica``.
    ///   - idempotencyKey: A key for a creating request, by default a new one. Pass your own to repeat the request in
    ///     another launch of the app, within 24 hours, without acting twice.
    ///   - progress: Called with the bytes of an upload that are sent so far and in all, from any thread.
    /// - Throws: ``MonicaAPIError``, `CancellationError`.
    @discardableResult
    public func send<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil, progress: UploadProgress? = nil
    ) async throws -> E.Output where E.API == Monica {
        let call = try Call(request, idempotencyKey: idempotencyKey, progress: progress)
        defer { call.form?.remove() }
        let answer: (body: [UInt8], isCached: Bool)
        if E.route.method == .get {
            answer = try await get(call)
        } else {
            await requests.clear()
            let result: Result<TransportResponse, any Error>
            do { result = .success(try await exchange(call)) } catch { result = .failure(error) }
            await requests.clear()
            answer = (try result.get().body, false)
        }
        // This is the one answer that is not JSON.
        if let type = E.Output.self as? Monica.VCards.Type,
            let text = type.init(rawValue: String(decoding: answer.body, as: UTF8.self)) as? E.Output
        {
            return text
        }
        do {
            let output = try JSONDecoder().decode(E.Output.self, from: Data(answer.body))
            guard answer.isCached, var cached = output as? any Cacheable else { return output }
            cached.isCached = true
            return cached as? E.Output ?? output
        } catch let error as DecodingError {
            throw MonicaAPIError.decodingError(error)
        } catch {
            throw MonicaAPIError.unknown(error)
        }
    }

    /// Creates a resource.
    @discardableResult
    public func create<Draft: Monica.Draft>(_ draft: Draft) async throws -> Draft.Item {
        try await send(Monica.Create<Draft.Item>(form: draft.form)).data
    }

    /// Replaces every field of a resource.
    @discardableResult
    public func update<Draft: Monica.Draft>(_ id: Int, _ draft: Draft) async throws -> Draft.Item {
        try await send(Monica.Update<Draft.Item>(id: id, form: draft.form)).data
    }

    /// Uploads a photo of a contact, from memory or from disk.
    ///
    /// - Parameters:
    ///   - photo: JPEG, PNG, GIF, WebP or HEIC of at most 10 MiB. The server stores it without metadata.
    ///   - contact: The contact's id.
    ///   - progress: Called with the bytes sent so far and in all, from any thread.
    @discardableResult
    public func store(
        photo: Upload, of contact: Int, progress: UploadProgress? = nil
    ) async throws -> Monica.Photo {
        try await send(Monica.Store<Monica.Photo>(photo, of: contact), progress: progress).data
    }

    /// Uploads a document about a contact, from memory or from disk.
    ///
    /// - Parameters:
    ///   - document: A file of any type, of at most 10 MiB.
    ///   - contact: The contact's id.
    ///   - progress: Called with the bytes sent so far and in all, from any thread.
    @discardableResult
    public func store(
        document: Upload, of contact: Int, progress: UploadProgress? = nil
    ) async throws -> Monica.Document {
        try await send(Monica.Store<Monica.Document>(document, of: contact), progress: progress).data
    }

    /// Deletes a resource.
    public func delete<Item: Monica.Deletable>(_: Item.Type, id: Int) async throws {
        try await send(Monica.Delete<Item>(id: id))
    }

    /// Deletes the user's account with all tokens and records, and all stored answers. It cannot be undone.
    public func deleteAccount() async throws {
        try await send(Monica.DeleteMe())
        await forgetAnswers()
    }

    /// Downloads an archive of all that the server keeps of the signed-in user, a ZIP file. It asks for one, waits until the
    /// server has made it, and continues a download that was interrupted. See ``Monica/RequestArchive``.
    ///
    /// - Parameters:
    ///   - destination: The place of the file, which appears there when it is whole; its folder exists.
    ///   - progress: Called with the bytes that are there so far and in all, from any thread.
    /// - Throws: `ArchiveFailed` when the server could not make it; `DownloadRefused`; the error of the disk; the errors of
    ///   ``send(_:)``.
    @discardableResult
    public func downloadArchive(
        to destination: URL, progress: DownloadProgress? = nil
    ) async throws -> DownloadedFile {
        try await ArchiveDownload(transport: transport, retry: .standard).run(to: destination, progress: progress) {
            try await self.send(Monica.RequestArchive()).data
        } current: {
            try await self.send(Monica.GetArchive()).data
        }
    }

    /// Removes all stored answers. Call it when the user signs out.
    public func forgetAnswers() async {
        await requests.clear()
        await cache.clear()
    }

    // MARK: The contract

    public func validateToken() async throws -> Bool {
        do {
            let call = try Call(Monica.ListContacts(limit: 1))
            _ = try await exchange(call, validating: false)
            return true
        } catch MonicaAPIError.invalidToken {
            return false
        }
    }

    public func listContacts(
        page: Int, limit: Int, query: String?
    ) async throws -> APIResponse<[Monica.Contact]> {
        try await list(page: page, limit: limit) { page, limit in
            try await send(Monica.ListContacts(query: query, page: page, limit: limit))
        }
    }

    public func getContact(id: Int) async throws -> APIResponse<Monica.Contact> {
        try await send(Monica.GetContact(id: id))
    }

    public func listActivities(
        contactId: Int?, page: Int, limit: Int
    ) async throws -> APIResponse<[Monica.Activity]> {
        try await list(of: contactId, page: page, limit: limit)
    }

    public func getActivity(id: Int) async throws -> APIResponse<Monica.Activity> {
        try await send(Monica.Get<Monica.Activity>(id: id))
    }

    public func listNotes(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Note]> {
        try await list(of: contactId, page: page, limit: limit)
    }

    public func listTasks(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Task]> {
        try await list(of: contactId, page: page, limit: limit)
    }

    public func listGifts(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Gift]> {
        try await list(of: contactId, page: page, limit: limit)
    }

    public func listTags() async throws -> APIResponse<[Monica.Tag]> {
        // Other servers return fifteen tags at a time, and limit the number of requests.
        var limit: Int?
        var response = try await list(page: 1, limit: Self.limits[0]) {
            limit = $1
            return try await send(Monica.ListTags(limit: $1))
        }
        var page = 1
        while page < (response.meta?.last_page ?? 1) {
            page += 1
            let next = try await send(Monica.ListTags(page: page, limit: limit))
            if next.data.isEmpty { break }
            response.data += next.data
            response.isCached = response.isCached || next.isCached
        }
        let count = response.data.count
        response.meta = PaginationMeta(
            total: count, current_page: 1, per_page: max(1, count), last_page: 1, from: count > 0 ? 1 : nil,
            to: count > 0 ? count : nil)
        response.links = PaginationLinks(first: "/tags", last: "/tags", prev: nil, next: nil)
        return response
    }

    // MARK: Lists of other servers

    /// Asks for a page, and for a smaller one when the server does not return as many elements.
    func list<Value: Codable & Sendable>(
        page: Int, limit: Int, _ ask: (_ page: Int, _ limit: Int) async throws -> APIResponse<Value>
    ) async throws -> APIResponse<Value> {
        var smaller = Self.limits.filter { $0 < limit }
        var (page, limit) = (page, limit)
        while true {
            do {
                return try await ask(page, limit)
            } catch MonicaAPIError.rejected(statusCode: 400, message: let message)
                where message.lowercased().contains("limit") && limit > 0 && !smaller.isEmpty
            {
                let first = (min(max(1, page), .max / limit) - 1) * limit
                limit = smaller.removeFirst()
                page = first / limit + 1
            }
        }
    }

    private static let limits = [100, 50, 15]

    /// Returns a list of one contact's resources. Servers that do not know the filter have the list under the contact's
    /// path.
    func list<Item: Monica.Listed>(
        of contact: Int?, page: Int, limit: Int, sort: Monica.Sort<Item.By>? = nil
    ) async throws -> APIResponse<[Item]> {
        try await list(page: page, limit: limit) { page, limit in
            guard let contact else { return try await send(Monica.List<Item>(page: page, limit: limit, sort: sort)) }
            if await !habits.ignoresContact(in: Item.plural) {
                let response = try await send(
                    Monica.List<Item>(contact: contact, page: page, limit: limit, sort: sort))
                // The rows alone do not tell: those of a page may all belong to the contact by chance.
                if response.links?.first?.contains("contact_id=") ?? true,
                    response.data.allSatisfy({ $0.isOf(contact) })
                {
                    return response
                }
                await habits.ignoreContact(in: Item.plural)
            }
            do {
                return try await send(
                    Monica.ListOfContact<Item>(contact: contact, page: page, limit: limit, sort: sort))
            } catch MonicaAPIError.notFound {
                // The list of an unknown contact is empty, as the contract says.
                return APIResponse(data: [], meta: PaginationMeta(total: 0, page: page, limit: limit, rows: 0))
            }
        }
    }

    // MARK: Requests

    /// Sends a request that reads: it shares the answer of an identical one, or returns the stored answer when there is
    /// no network.
    private func get(_ call: Call) async throws -> (body: [UInt8], isCached: Bool) {
        let key = "\(configuration.token) \(configuration.baseURL.absoluteString)\(call.path)"
        let name = Self.fingerprint(of: key)
        do {
            let response = try await requests.answer(key) { try await exchange(call) }
            try Task.checkCancellation()
            if response.body.count <= Self.largestKept { await cache.keep(response.body, for: name) }
            return (response.body, false)
        } catch MonicaAPIError.networkUnavailable {
            guard let body = await cache.response(for: name) else { throw MonicaAPIError.networkUnavailable }
            return (body, true)
        }
    }

    /// The largest answer that is stored, in bytes. A page is a tenth of it; an export is not meant for reading without
    /// a network.
    private static let largestKept = 1 << 20

    /// Returns FNV-1a over 128 bits, in two halves: a file name that does not reveal the token.
    private static func fingerprint(of text: String) -> String {
        var (left, right): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15)
        for byte in text.utf8 {
            left = (left ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            right = (right ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 &+ left
        }
        return String(left, radix: 16) + String(right, radix: 16)
    }

    /// Sends a request, repeats it when that may help and cannot act twice, and checks its answer.
    ///
    /// - Parameter validating: Whether to check the token after a 401.
    private func exchange(_ call: Call, validating: Bool = true) async throws -> TransportResponse {
        let request = try call.request(to: configuration)
        var attempt = 0
        while true {
            let result: Result<TransportResponse, any Error>
            do { result = .success(try await transport.send(request, progress: call.progress)) } catch {
                try Task.checkCancellation()
                result = .failure(error)
            }
            let isTransient =
                switch result {
                case .success(let response): Backoff.isTransient(response.status)
                case .failure(let error): Backoff.isTransient(error)
                }
            if let response = try? result.get(), response.headers[.idempotencyKeyLifetime] != nil {
                await habits.honourKeys()
            }
            if isTransient, await mayRepeat(call), attempt < configuration.retryCount,
                let delay = backoff.delay(attempt, after: try? result.get())
            {
                try await backoff.sleep(.milliseconds(Int64(delay * 1000)))
                attempt += 1
                continue
            }
            return try await checked(result, call, validating)
        }
    }

    /// Returns a successful answer, and throws the error that any other result stands for.
    private func checked(
        _ result: Result<TransportResponse, any Error>, _ call: Call, _ validating: Bool
    ) async throws -> TransportResponse {
        let response: TransportResponse
        switch result {
        case .success(let answer): response = answer
        case .failure(let error):
            if !Backoff.isTransient(error) { throw CancellationError() }
            throw error is URLError ? MonicaAPIError.networkUnavailable : MonicaAPIError.unknown(error)
        }
        switch response.status.code {
        case 200..<300: return response
        case 300..<400: throw MonicaAPIError.invalidToken  // This redirects to the sign-in page.
        case 401:
            // The token is still valid, so the 401 was a temporary error: the request is sent once more.
            guard validating, try await isTokenValid() else { throw MonicaAPIError.invalidToken }
            return try await exchange(call, validating: false)
        case 403: throw MonicaAPIError.forbidden
        case 404 where call.isWholeList || Self.isForeign(response.body):
            throw unexpected(response)
        case 404:
            let named = Self.missing(in: response.body) ?? (call.isCreation ? Monica.Contact.singular : nil)
            let isOther = named != nil && named != call.resourceType
            throw MonicaAPIError.notFound(
                resourceType: named ?? call.resourceType, id: isOther ? nil : call.resourceID)
        case 429: throw MonicaAPIError.rateLimitExceeded
        case 500...: throw MonicaAPIError.serverError(statusCode: response.status.code)
        default:
            guard let failure = try? JSONDecoder().decode(Monica.Failure.self, from: Data(response.body)) else {
                throw unexpected(response)
            }
            throw MonicaAPIError.rejected(statusCode: response.status.code, message: failure.message)
        }
    }

    /// Returns the error for an answer that no Monica gives.
    private func unexpected(_ response: TransportResponse) -> MonicaAPIError {
        let message = ContractClient.APIError.unexpectedAnswer(
            response.status, of: Monica.self, from: configuration.baseURL)
        return .rejected(statusCode: response.status.code, message: message)
    }

    /// Returns whether a body is the refusal of another API: one that has a message, and none of the forms of a Monica.
    private static func isForeign(_ body: [UInt8]) -> Bool {
        struct Flat: Decodable { var message: JSONValue }
        guard let failure = try? JSONDecoder().decode(Monica.Failure.self, from: Data(body)) else { return false }
        let isFlat = (try? JSONDecoder().decode(Flat.self, from: Data(body))) != nil
        return failure.code == nil && failure.errorCode == nil && !isFlat
    }

    /// Returns whether sending a request twice cannot act twice. A Monica 4 ignores idempotency keys, so a creation is
    /// repeated only once the server has shown that it honours them.
    private func mayRepeat(_ call: Call) async -> Bool {
        if call.method == .get { return true }
        guard call.key != nil else { return false }
        return await habits.honoursKeys
    }

    /// Returns whether the server still accepts the token; false when it cannot be asked.
    private func isTokenValid() async throws -> Bool {
        do {
            return try await validateToken()
        } catch let error as CancellationError {
            throw error
        } catch {
            return false
        }
    }

    /// Returns what the server did not find, which may be a resource that the body names: "The requested contact was
    /// not found."
    private static func missing(in body: [UInt8]) -> String? {
        guard let failure = try? JSONDecoder().decode(Monica.Failure.self, from: Data(body)),
            let match = failure.message.wholeMatch(
                of:
                    #/The requested (contact|activity|note|task|gift|tag|contact field|contact field type|address|call|conversation|message|reminder|debt|pet|life event|photo|document|gender|activity type|activity type category|currency|journal entry|merge|relationship|relationship type|relationship type group) was not found\./#
            )
        else { return nil }
        return String(match.1)
    }
}

private protocol Cacheable {
    var isCached: Bool { get set }
}

extension APIResponse: Cacheable {}
