import Contract
import ContractClient
import Foundation
import HTTPTypes
import MonicaAPI

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request without its type.
struct Call: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let body: [UInt8]?
    /// The form of a request with a file; nil for others.
    let form: MultipartBody?
    /// Called with the bytes sent so far and in all, from any thread.
    let progress: UploadProgress?
    let key: String?
    let resourceType: String
    let resourceID: Int?
    /// Whether the request creates a resource. When it gets 404, another resource that the body names is missing.
    let isCreation: Bool
    /// Whether the request reads a list that every account has. A server that does not have it is no Monica.
    let isWholeList: Bool

    init<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil, progress: UploadProgress? = nil
    ) throws {
        let encoded = try RequestCoding.encode(request)
        method = E.route.method
        path = encoded.path
        if case .json(let bytes) = encoded.body { body = bytes } else { body = nil }
        form = try MultipartBody(encoded.body)
        self.progress = progress
        key = E.route.acceptsIdempotencyKey ? idempotencyKey ?? UUID().uuidString.lowercased() : nil
        let steps = encoded.path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        let plural = steps.first ?? ""
        resourceType = Self.singulars[plural] ?? (plural.hasSuffix("s") ? String(plural.dropLast()) : plural)
        resourceID = steps.dropFirst().first.flatMap { Int($0) }
        isCreation = method == .post && steps.count == 1
        isWholeList = method == .get && steps.count == 1 && !encoded.path.contains("contact_id=")
    }

    /// The names of resources in refusals, where they are not the plural without its last letter.
    private static let singulars = [
        Monica.Activity.plural: Monica.Activity.singular, Monica.ContactField.plural: Monica.ContactField.singular,
        Monica.ContactFieldType.plural: Monica.ContactFieldType.singular,
        Monica.Address.plural: Monica.Address.singular, "countries": "country",
        Monica.JournalEntry.plural: Monica.JournalEntry.singular,
        Monica.ActivityType.plural: Monica.ActivityType.singular,
        Monica.ActivityTypeCategory.plural: Monica.ActivityTypeCategory.singular,
        Monica.Currency.plural: Monica.Currency.singular,
        Monica.LifeEvent.plural: Monica.LifeEvent.singular,
        Monica.RelationshipType.plural: Monica.RelationshipType.singular,
        Monica.RelationshipTypeGroup.plural: Monica.RelationshipTypeGroup.singular,
    ]

    func request(to configuration: APIConfiguration) throws -> TransportRequest {
        guard let url = URL(string: configuration.baseURL.absoluteString + path) else {
            throw MonicaAPIError.unknown(URLError(.badURL))
        }
        var request = TransportRequest(method: method, url: url)
        for (name, value) in MonicaHeaders.all {
            if let name = HTTPField.Name(name) { request.headers[name] = value }
        }
        request.headers[.authorization] = "Bearer \(configuration.token)"
        if let key { request.headers[.idempotencyKey] = key }
        if let body {
            request.headers[.contentType] = "application/json"
            request.body = .bytes(body)
        }
        if let form {
            request.headers[.contentType] = form.contentType
            request.body = form.body
        }
        return request
    }
}

/// The capabilities of a server that were learnt from its answers: which of its lists do not take a contact, and whether
/// it honours idempotency keys.
actor ServerHabits {
    private var deaf: Set<String> = []

    private(set) var honoursKeys = false

    func honourKeys() { honoursKeys = true }
    func ignoresContact(in list: String) -> Bool { deaf.contains(list) }
    func ignoreContact(in list: String) { deaf.insert(list) }
}
