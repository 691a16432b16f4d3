import Contract
import HTTPTypes

extension Monica {
    /// A resource with an id that belongs to an account.
    public protocol Resource: Codable, Hashable, Sendable {
        /// The name in paths, such as `contacts`.
        static var plural: String { get }
        /// The name in error messages, such as `contact`.
        static var singular: String { get }
        var id: Int { get }
    }

    /// A resource of which each contact has a list.
    public protocol Listed: Resource {
        /// The orders of its lists.
        associatedtype By: Order
        /// Returns whether the resource belongs to a contact.
        func isOf(_ contact: Int) -> Bool
    }

    /// A resource that can be deleted.
    public protocol Deletable: Resource {}

    /// A resource that can be created, changed and deleted.
    public protocol Writable: Deletable {
        /// The fields of a write.
        associatedtype Draft: Monica.Draft
        /// The status of a creation.
        static var createdStatus: HTTPStatus { get }
        /// The rules of the fields of a write.
        static var fieldRules: [String: FieldRule] { get }
        /// The rules of the fields of a new resource.
        static var newFieldRules: [String: FieldRule] { get }
    }

    /// The fields of a write, as an app composes them.
    public protocol Draft: Sendable {
        /// The resource that is written.
        associatedtype Item: Writable
        var form: Form { get }
    }

    /// The fields of a write as they are on the wire. A server validates each one, so that a field of another type is
    /// reported and not lost.
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
            // An id in a body is ignored: the path has it.
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

    // MARK: Operations of many resources

    /// `GET /notes`, `/tasks`, `/gifts`, `/activities`: returns a page of the resources of all contacts, or of one.
    public struct List<Item: Listed>: Endpoint {
        public static var route: Route { .get("/" + Item.plural) }
        public typealias Output = APIResponse<[Item]>
        /// The number of elements in a page when a request gives no limit.
        public static var defaultLimit: Int { 10 }
        /// The maximum number of elements in a page.
        public static var maximumLimit: Int { 100 }
        public static var fieldRules: [String: FieldRule] { rules(of: Part<Item.By>.self, maximum: maximumLimit) }

        /// Returns only resources of this contact. The list is empty for an unknown one.
        public var contact: Int?
        /// The page and the order; 10 to a page by default, at most 100.
        public var part: Part<Item.By>

        /// Creates a request.
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
            if let contact, contact < 1 { throw Problems.contact }
        }
    }

    /// `GET /contacts/{id}/notes` and the like: returns a page of the resources of one contact. Throws 404 when there
    /// is no such contact.
    public struct ListOfContact<Item: Listed>: Endpoint {
        public static var route: Route { .get("/contacts/{id}/" + Item.plural) }
        public typealias Output = APIResponse<[Item]>
        public static var fieldRules: [String: FieldRule] { List<Item>.fieldRules }

        /// The contact.
        public var contact: Int
        /// The page and the order of the list.
        public var part: Part<Item.By>

        /// Creates a request.
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

    /// `GET /notes/{id}` and the like: returns a resource.
    public struct Get<Item: Resource>: Endpoint {
        public static var route: Route { .get("/\(Item.plural)/{id}") }
        public typealias Output = APIResponse<Item>

        /// The resource's id.
        public var id: Int

        public init(id: Int) { self.id = id }
    }

    /// `POST /notes` and the like: creates a resource.
    public struct Create<Item: Writable>: Endpoint {
        public static var route: Route { .post("/" + Item.plural, Item.createdStatus.status, idempotencyKey: true) }
        public typealias Output = APIResponse<Item>

        public static var fieldRules: [String: FieldRule] { Item.newFieldRules }

        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(_ draft: Item.Draft) { form = draft.form }
        public init(form: Form) { self.form = form }
        public init(from decoder: any Decoder) throws { form = try Form(from: decoder) }
        public func encode(to encoder: any Encoder) throws { try form.encode(to: encoder) }
    }

    /// `PUT /notes/{id}` and the like: replaces every field. `PATCH` does the same.
    public struct Update<Item: Writable>: Endpoint {
        public static var route: Route { .put("/\(Item.plural)/{id}", alternatives: [.patch]) }
        public typealias Output = APIResponse<Item>
        public static var fieldRules: [String: FieldRule] { Item.fieldRules }

        /// The resource's id.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
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

    /// `DELETE /notes/{id}` and the like: deletes a resource. A second deletion throws 404.
    public struct Delete<Item: Deletable>: Endpoint {
        public static var route: Route { .delete("/\(Item.plural)/{id}") }
        public typealias Output = Deletion

        /// The resource's id.
        public var id: Int

        public init(id: Int) { self.id = id }
    }

    /// The answer to a deletion: `{ "deleted": true, "id": 7 }`.
    public struct Deletion: Codable, ReadByMembers, Hashable, Sendable {
        /// Whether the resource was deleted: true in every answer.
        public var deleted: Bool = true
        /// The id of the deleted resource.
        public var id: Int
        private init(derived: Never, without deleted: Never) { switch derived {} }
    }

    /// The account that a resource belongs to.
    public struct AccountReference: Codable, ReadByMembers, WrittenByMembers, Hashable, Sendable {
        /// The account's id.
        public var id: Int
        private init(derived: Never) { switch derived {} }
    }
}

/// The status of a creation: 200 for tasks, as the contract has it, and 201 for others.
public enum HTTPStatus: Sendable {
    case created
    case ok

    var status: HTTPResponse.Status { self == .created ? .created : .ok }
}

enum IDKey: String, CodingKey { case id }

extension Monica.Form: CustomStringConvertible {
    /// The fields as JSON, by name.
    public var description: String { JSONValue.object(fields).description }
}

extension Monica.Writable {
    public static var newFieldRules: [String: FieldRule] { fieldRules }
}
