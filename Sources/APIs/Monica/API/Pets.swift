import Contract

extension Monica {
    static let pets = Section(
        "Pets",
        [
            List<Pet>.self, ListOfContact<Pet>.self, Get<Pet>.self, Create<Pet>.self, Update<Pet>.self,
            Delete<Pet>.self,
        ])

    /// The orders of a list of pets.
    public enum PetOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// A category of pets. Every account has the same ones, with the same ids.
    public struct PetCategory: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// Snakes, lizards and turtles, for instance.
        public static let reptile = Self(id: 1, name: "reptile")
        /// Birds of every kind.
        public static let bird = Self(id: 2, name: "bird")
        /// Cats.
        public static let cat = Self(id: 3, name: "cat", isCommon: true)
        /// Dogs.
        public static let dog = Self(id: 4, name: "dog", isCommon: true)
        /// Fish of every kind.
        public static let fish = Self(id: 5, name: "fish", isCommon: true)
        /// Hamsters.
        public static let hamster = Self(id: 6, name: "hamster")
        /// Horses.
        public static let horse = Self(id: 7, name: "horse")
        /// Rabbits.
        public static let rabbit = Self(id: 8, name: "rabbit")
        /// Rats.
        public static let rat = Self(id: 9, name: "rat")
        /// Small animals that have no category of their own.
        public static let smallAnimal = Self(id: 10, name: "small_animal")
        /// Pets that are in no other category.
        public static let other = Self(id: 11, name: "other")
        /// All categories, by their ids.
        public static let known = [
            reptile, bird, cat, dog, fish, hamster, horse, rabbit, rat, smallAnimal, other,
        ]

        /// The category's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "pet_category"
        /// A word for the category, such as `cat`.
        public var name: String
        /// Whether many people have such pets.
        public var isCommon: Bool

        private init(id: Int, name: String, isCommon: Bool = false) {
            self.id = id
            self.name = name
            self.isCommon = isCommon
        }
    }

    /// A pet of a contact.
    public struct Pet: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = PetOrder
        public typealias Draft = PetDraft
        public static let plural = "pets"
        public static let singular = "pet"
        public static let fieldRules = petRules
        public static let createdStatus = HTTPStatus.created

        /// The pet's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "pet"
        /// The name; nil when there is none.
        @OrNull public var name: String?
        /// The category.
        public var petCategory: PetCategory
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, uuid: String, name: String?, category: PetCategory, account: Int, createdAt: Timestamp,
            updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.name = name
            petCategory = category
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed pet.
    public struct PetDraft: Draft, Hashable {
        public typealias Item = Pet

        /// The contact's id. A pet stays with its contact: a change names the same one.
        public var contactID: Int
        /// The category.
        public var category: PetCategory
        /// The name, of at most 255 characters; nil when there is none.
        public var name: String? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "pet_category_id": .integer(Int64(category.id)), "contact_id": .integer(Int64(contactID)),
                "name": .orNull(name),
            ])
        }
    }
}
