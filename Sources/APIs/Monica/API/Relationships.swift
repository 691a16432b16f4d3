import Contract

extension Monica {
    static let relationships = Section(
        "Relationships",
        [
            ListRelationships.self, Get<Relationship>.self, Create<Relationship>.self, Update<Relationship>.self,
            Delete<Relationship>.self, ListRelationshipTypes.self, Get<RelationshipType>.self,
            ListRelationshipTypeGroups.self, Get<RelationshipTypeGroup>.self,
        ])

    /// `GET /contacts/{id}/relationships`: returns all relationships of a contact to others, the oldest first. Throws 404 when
    /// there is no such contact.
    public struct ListRelationships: Endpoint {
        public static let route = Route.get("/contacts/{id}/relationships")
        public typealias Output = APIResponse<[Relationship]>

        /// The contact.
        public var contact: Int
        private init(derived: Never) { switch derived {} }
    }

    /// A relationship of a contact to another one, as that contact has it: a parent's to a child.
    ///
    /// The other contact has one of its own, of the reverse type: the child's to the parent. The two are made, changed and
    /// deleted together.
    public struct Relationship: Writable, ReadByMembers, Identifiable {
        public typealias Draft = RelationshipDraft
        public static let plural = "relationships"
        public static let singular = "relationship"
        public static let fieldRules = relationshipRules
        public static let newFieldRules = newRelationshipRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of relationships of a contact.
        public static let maximumNumber = 100

        /// The relationship's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "relationship"
        /// The contact whose relationship it is: the parent, if that is the type.
        public var contactIs: ShortContact
        /// The type: what the contact is to the other one.
        public var relationshipType: RelationshipType
        /// The other contact.
        public var ofContact: ShortContact
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, contactIs: ShortContact, type: RelationshipType, ofContact: ShortContact,
            account: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.contactIs = contactIs
            relationshipType = type
            self.ofContact = ofContact
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// The fields of a new or changed relationship.
    public struct RelationshipDraft: Draft, Hashable {
        public typealias Item = Relationship

        /// The id of the contact whose relationship it is. It stays so: a change names the same one.
        public var contactIs: Int
        /// The id of the type, one of ``ListRelationshipTypes``: what the contact is to the other one.
        public var typeID: Int
        /// The id of the other contact. A change names the same one.
        public var ofContact: Int
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_is": .integer(Int64(contactIs)), "relationship_type_id": .integer(Int64(typeID)),
                "of_contact": .integer(Int64(ofContact)),
            ])
        }
    }

    /// `GET /relationshiptypes`: returns all types of relationships, by their ids.
    public struct ListRelationshipTypes: Endpoint {
        public static let route = Route.get("/relationshiptypes")
        public typealias Output = APIResponse<[RelationshipType]>

        public init() {}
    }

    /// A type of relationships: what a contact is to another one. Every account of this project's server has the same ones,
    /// with the same ids.
    public struct RelationshipType: Resource, ReadByMembers, Identifiable {
        public static let plural = "relationshiptypes"
        public static let singular = "relationship type"

        /// The id of the type.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "relationshiptype"
        /// A word for the type, such as `parent`.
        public var name: String
        /// The word for the type of the other contact's relationship, such as `child`.
        public var nameReverseRelationship: String
        /// The id of the group, one of ``ListRelationshipTypeGroups``.
        public var relationshipTypeGroupID: Int
        /// Whether the type can be deleted. Those of this project's server cannot.
        public var delible: Bool
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(id: Int, name: String, reverse: String, group: Int, account: Int, createdAt: Timestamp) {
            self.id = id
            self.name = name
            nameReverseRelationship = reverse
            relationshipTypeGroupID = group
            delible = false
            self.account = AccountReference(id: account)
            (self.createdAt, updatedAt) = (createdAt, createdAt)
        }
    }

    /// `GET /relationshiptypegroups`: returns all groups of types of relationships, by their ids.
    public struct ListRelationshipTypeGroups: Endpoint {
        public static let route = Route.get("/relationshiptypegroups")
        public typealias Output = APIResponse<[RelationshipTypeGroup]>

        public init() {}
    }

    /// A group of types of relationships. Every account of this project's server has the same ones, with the same ids.
    public struct RelationshipTypeGroup: Resource, ReadByMembers, Identifiable {
        public static let plural = "relationshiptypegroups"
        public static let singular = "relationship type group"

        /// The id of the group.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "relationshiptypegroup"
        /// A word for the group: `love`, `family`, `friend` or `work`.
        public var name: String
        /// Whether the group can be deleted. Those of this project's server cannot.
        public var delible: Bool
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(id: Int, name: String, account: Int, createdAt: Timestamp) {
            self.id = id
            self.name = name
            delible = false
            self.account = AccountReference(id: account)
            (self.createdAt, updatedAt) = (createdAt, createdAt)
        }
    }
}
