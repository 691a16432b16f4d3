import Contract
import HTTPTypes

extension Monica {
    /// Something with an id that belongs to an account.
    public protocol Resource: Codable, Hashable, Sendable {
        /// In paths: `contacts`.
        static var plural: String { get }
        /// In refusals: `contact`.
        static var singular: String { get }
        var id: Int { get }
    }

    /// A resource of which there is a list for each contact.
    public protocol Listed: Resource {
        associatedtype By: Order
        func isOf(_ contact: Int) -> Bool
    }

    /// A resource that can be written.
    public protocol Writable: Resource {
        associatedtype Draft: Monica.Draft
        static var createdStatus: HTTPStatus { get }
    }

    /// What a write says, as an app puts it together.
    public protocol Draft: Sendable {
        /// What is made of it.
        associatedtype Item: Writable
        var form: Form { get }
    }

    /// The fields of a write as they travel. A server judges each one, so none is lost for being of another type.
    public struct Form: Codable, Hashable, Sendable {
        package var fields: [String: JSONValue]

        package init(_ fields: [String: JSONValue]) { self.fields = fields }

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            fields = [:]
            // An id in a body means nothing: the path has it.
            for name in container.allKeys where name.stringValue != "id" {
                fields[name.stringValue] = try container.decodeIfPresent(JSONValue.self, forKey: name) ?? .null
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                try container.encode(value, forKey: Name(stringValue: name))
            }
        }
    }

    // MARK: Operations that many resources have

    /// `GET /notes`, `/tasks`, `/gifts`, `/activities`: a page of those of all contacts, or of one.
    public struct List<Item: Listed>: Endpoint {
        public static var route: Route { .get("/" + Item.plural) }
        public typealias Output = APIResponse<[Item]>
        public static var defaultLimit: Int { 10 }
        public static var maximumLimit: Int { 50 }

        /// Only those of this contact. Of an unknown one there are none.
        public var contact: Int?
        /// Of 10, at most 50.
        public var part: Part<Item.By>

        public init(contact: Int? = nil, page: Int? = nil, limit: Int? = nil, sort: Sort<Item.By>? = nil) {
            self.contact = contact
            part = Part(page: page, limit: limit, sort: sort)
        }

        public init(from decoder: any Decoder) throws {
            part = try Part(from: decoder)
            contact = try decoder.container(keyedBy: QueryKey.self).parameter(.contact)
        }

        public func encode(to encoder: any Encoder) throws {
            var query = encoder.container(keyedBy: QueryKey.self)
            try query.encodeIfPresent(contact, forKey: .contact)
            try part.encode(to: encoder)
        }

        public func validate() throws(Problem) {
            try part.validate(maximum: Self.maximumLimit)
            if let contact, contact < 1 { throw Refusal.contact }
        }
    }

    /// `GET /contacts/{id}/notes`, …: a page of those of one contact. 404 when there is no such contact.
    public struct ListOfContact<Item: Listed>: Endpoint {
        public static var route: Route { .get("/contacts/{id}/" + Item.plural) }
        public typealias Output = APIResponse<[Item]>

        public var contact: Int
        public var part: Part<Item.By>

        public init(contact: Int, page: Int? = nil, limit: Int? = nil, sort: Sort<Item.By>? = nil) {
            self.contact = contact
            part = Part(page: page, limit: limit, sort: sort)
        }

        public init(from decoder: any Decoder) throws {
            contact = try decoder.container(keyedBy: IDKey.self).decode(Int.self, forKey: .id)
            part = try Part(from: decoder)
        }

        public func encode(to encoder: any Encoder) throws {
            var path = encoder.container(keyedBy: IDKey.self)
            try path.encode(contact, forKey: .id)
            try part.encode(to: encoder)
        }

        public func validate() throws(Problem) { try part.validate(maximum: List<Item>.maximumLimit) }
    }

    /// `GET /notes/{id}`, …
    public struct Get<Item: Resource>: Endpoint {
        public static var route: Route { .get("/\(Item.plural)/{id}") }
        public typealias Output = APIResponse<Item>

        public var id: Int

        public init(id: Int) { self.id = id }
    }

    /// `POST /notes`, …
    public struct Create<Item: Writable>: Endpoint {
        public static var route: Route { .post("/" + Item.plural, Item.createdStatus.status, idempotencyKey: true) }
        public typealias Output = APIResponse<Item>

        public var form: Form

        public init(_ draft: Item.Draft) { form = draft.form }
        public init(form: Form) { self.form = form }
        public init(from decoder: any Decoder) throws { form = try Form(from: decoder) }
        public func encode(to encoder: any Encoder) throws { try form.encode(to: encoder) }
    }

    /// `PUT /notes/{id}`, …: replaces every field. `PATCH` does the same.
    public struct Update<Item: Writable>: Endpoint {
        public static var route: Route { .put("/\(Item.plural)/{id}", alternatives: [.patch]) }
        public typealias Output = APIResponse<Item>

        public var id: Int
        public var form: Form

        public init(id: Int, _ draft: Item.Draft) { self.init(id: id, form: draft.form) }

        public init(id: Int, form: Form) {
            self.id = id
            self.form = form
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `DELETE /notes/{id}`, …: a second time it is 404.
    public struct Delete<Item: Writable>: Endpoint {
        public static var route: Route { .delete("/\(Item.plural)/{id}") }
        public typealias Output = Deletion

        public var id: Int

        public init(id: Int) { self.id = id }
    }

    /// `{ "deleted": true, "id": 7 }`
    public struct Deletion: Codable, Hashable, Sendable {
        public var deleted: Bool
        public var id: Int

        public init(id: Int) {
            self.deleted = true
            self.id = id
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            deleted = try container.truth(.deleted) ?? true
            id = try container.id(.id)
        }

        enum CodingKeys: String, CodingKey { case deleted, id }
    }

    /// Whose a resource is.
    public struct AccountReference: Codable, Hashable, Sendable {
        public var id: Int

        public init(id: Int) { self.id = id }

        public init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: IDKey.self).id(.id)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: IDKey.self)
            try container.encode(id, forKey: .id)
        }
    }
}

/// The status of a creation: the contract's tasks are 200.
public enum HTTPStatus: Sendable {
    case created
    case ok

    var status: HTTPResponse.Status { self == .created ? .created : .ok }
}

enum IDKey: String, CodingKey { case id }

extension Monica.Form: CustomStringConvertible {
    /// As JSON, fields by name.
    public var description: String { JSONValue.object(fields).description }
}
