import Contract

extension Monica {
    static let contacts = Section(
        "Contacts",
        [
            ListContacts.self, GetContact.self, Create<Contact>.self, Update<Contact>.self, Delete<Contact>.self,
            SetWork.self, SetFood.self, SetIntroduction.self, SetTags.self, UnsetTag.self, UnsetTags.self,
        ])

    /// The orders of a list of contacts.
    public enum ContactOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// Additional parts of a contact in an answer.
    public struct Inclusion: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Asks for ``Contact/contactFields`` and the three newest ``Contact/notes``.
        public static let contactFields = Self(rawValue: "contactfields")
    }

    /// `GET /contacts`: returns a page of contacts, or of those that match a search; partial contacts are left out.
    public struct ListContacts: Endpoint {
        public static let route = Route.get("/contacts")
        public typealias Output = APIResponse<[Contact]>
        /// The number of contacts in a page when a request gives no limit.
        public static let defaultLimit = 50
        /// The maximum number of contacts in a page.
        public static let maximumLimit = 100
        /// The maximum length of a search, in characters.
        public static let maximumQuery = 255
        public static let fieldRules = rules(of: Part<ContactOrder>.self, maximum: maximumLimit)

        /// The words of a search, each of which must occur in a name, the nickname, the description or the job; case
        /// and accents do not matter. At most 255 characters. A blank text is no search.
        public var query: String?
        /// The page and the order of the list.
        public var part: Part<ContactOrder>
        /// The additional parts of each contact; nil for none.
        public var with: Inclusion?

        /// Creates a request.
        public init(
            query: String? = nil, page: Int? = nil, limit: Int? = nil, sort: Sort<ContactOrder>? = nil,
            with: Inclusion? = nil
        ) {
            self.query = query
            part = Part(page: page, limit: limit, sort: sort)
            self.with = with
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: QueryKey.self)
            query = try container.words(.query)
            part = try Part(from: decoder)
            with = try container.words(.with).map(Inclusion.init(rawValue:))
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: QueryKey.self)
            try container.encodeIfPresent(query, forKey: .query)
            try part.encode(to: encoder)
            try container.encodeIfPresent(with?.rawValue, forKey: .with)
        }

        public func validate() throws(Problem) {
            try part.validate(maximum: Self.maximumLimit)
            guard (query?.trimmed.length ?? 0) <= Self.maximumQuery else { throw Problems.query }
        }
    }

    /// `GET /contacts/{id}`: returns a contact.
    public struct GetContact: Endpoint {
        public static let route = Route.get("/contacts/{id}")
        public typealias Output = APIResponse<Contact>

        /// The contact.
        public var id: Int
        /// The additional parts of each contact; nil for none.
        public var with: Inclusion? = nil
        private init(derived: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: IDKey.self).decode(Int.self, forKey: .id)
            with = try decoder.container(keyedBy: QueryKey.self).words(.with).map(Inclusion.init(rawValue:))
        }

        public func encode(to encoder: any Encoder) throws {
            var path = encoder.container(keyedBy: IDKey.self)
            try path.encode(id, forKey: .id)
            var query = encoder.container(keyedBy: QueryKey.self)
            try query.encodeIfPresent(with?.rawValue, forKey: .with)
        }
    }

    /// A date in a request: known in full, known without its year, or given as an age.
    public enum DraftDate: Hashable, Sendable {
        case day(Day)
        /// A day whose year is not known.
        case dayOfYear(month: Int, day: Int)
        /// An age in years.
        case age(Int)

        /// Returns the fields of the date, whose names begin with the given name.
        func fields(_ name: String) -> [String: JSONValue] {
            switch self {
            case .day(let day):
                let parts = day.description.split(separator: "-").compactMap { Int64($0) }
                return [
                    "\(name)_year": .integer(parts[0]), "\(name)_month": .integer(parts[1]),
                    "\(name)_day": .integer(parts[2]),
                ]
            case .dayOfYear(let month, let day):
                return ["\(name)_month": .integer(Int64(month)), "\(name)_day": .integer(Int64(day))]
            case .age(let age):
                return ["\(name)_is_age_based": true, "\(name)_age": .integer(Int64(age))]
            }
        }
    }

    /// The fields of a new or changed contact.
    public struct ContactDraft: Draft, Hashable {
        public typealias Item = Contact

        /// The first name: at most 255 characters, like every text of a contact.
        public var firstName: String
        /// The middle name; nil removes it.
        public var middleName: String? = nil
        /// The last name; nil removes it.
        public var lastName: String? = nil
        /// The nickname; nil removes it.
        public var nickname: String? = nil
        /// The owner's text about the contact; nil removes it.
        public var description: String? = nil
        /// The gender's id, one of ``ListGenders``.
        public var genderID: Int? = nil
        /// The e-mail address. It counts only when the contact is created.
        public var email: String? = nil
        /// The date of birth; nil removes it.
        public var birthdate: DraftDate? = nil
        /// Whether the contact has died.
        public var isDeceased: Bool = false
        /// The date of death; nil removes it.
        public var deceasedDate: DraftDate? = nil
        /// Whether the contact is known only through another contact.
        public var isPartial: Bool = false
        /// Whether the contact is marked as a favourite; nil leaves it unchanged.
        public var isStarred: Bool? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            var fields: [String: JSONValue] = [
                "first_name": .string(firstName), "middle_name": .orNull(middleName), "last_name": .orNull(lastName),
                "nickname": .orNull(nickname), "description": .orNull(description),
                "gender_id": .orNull(genderID), "is_partial": .bool(isPartial),
                "is_birthdate_known": .bool(birthdate != nil), "is_deceased": .bool(isDeceased),
                "is_deceased_date_known": .bool(deceasedDate != nil),
            ]
            if let email { fields["email"] = .string(email) }
            if let isStarred { fields["is_starred"] = .bool(isStarred) }
            fields.merge(birthdate?.fields("birthdate") ?? [:]) { $1 }
            fields.merge(deceasedDate?.fields("deceased_date") ?? [:]) { $1 }
            return Form(fields)
        }
    }

    /// `PUT /contacts/{id}/work`: sets the job. For a partial contact it throws 422, like the two operations that
    /// follow.
    public struct SetWork: Endpoint {
        public static let route = Route.put("/contacts/{id}/work", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = workRules

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(id: Int, job: String?, company: String?) {
            self.id = id
            form = Form(["job": .orNull(job), "company": .orNull(company)])
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `PUT /contacts/{id}/food`: sets the food preferences.
    public struct SetFood: Endpoint {
        public static let route = Route.put("/contacts/{id}/food", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = foodRules

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(id: Int, preferences: String?) {
            self.id = id
            form = Form(["food_preferences": .orNull(preferences)])
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `PUT /contacts/{id}/introduction`: sets how the owner met the contact.
    public struct SetIntroduction: Endpoint {
        public static let route = Route.put("/contacts/{id}/introduction", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = introductionRules

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        ///
        /// - Parameter metThrough: The id of the contact who introduced the two.
        public init(id: Int, generalInformation: String?, metThrough: Int? = nil, date: DraftDate? = nil) {
            self.id = id
            var fields: [String: JSONValue] = [
                "general_information": .orNull(generalInformation), "met_through_contact_id": .orNull(metThrough),
                "is_date_known": .bool(date != nil),
            ]
            for (name, value) in date?.fields("date") ?? [:] {
                // The fields of this date have no prefix.
                fields[String(name.dropFirst("date_".count))] = value
            }
            form = Form(fields)
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `POST /contacts/{id}/setTags`: adds tags by name, and creates missing ones.
    public struct SetTags: Endpoint {
        public static let route = Route.post("/contacts/{id}/setTags")
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = tagNamesRules

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(id: Int, names: [String]) {
            self.id = id
            form = Form(["tags": .list(names.map { .string($0) })])
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `POST /contacts/{id}/unsetTag`: removes tags by id.
    public struct UnsetTag: Endpoint {
        public static let route = Route.post("/contacts/{id}/unsetTag")
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = tagIDsRules

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        public init(id: Int, tags: [Int]) {
            self.id = id
            form = Form(["tags": .list(tags.map { .integer(Int64($0)) })])
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `POST /contacts/{id}/unsetTags`: removes all tags.
    public struct UnsetTags: Endpoint {
        public static let route = Route.post("/contacts/{id}/unsetTags")
        public typealias Output = APIResponse<Contact>

        /// The contact.
        public var id: Int
        /// The fields of the request.
        public var form = Form([:])
        private init(derived: Never, without form: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }
}

/// A write on an existing resource: its id in the path, the other fields in the body.
struct FormWithID {
    let id: Int
    let form: Monica.Form

    init(from decoder: any Decoder) throws {
        id = try decoder.container(keyedBy: IDKey.self).decode(Int.self, forKey: .id)
        form = try Monica.Form(from: decoder)
    }

    init(id: Int, _ form: Monica.Form) {
        self.id = id
        self.form = form
    }

    func encode(to encoder: any Encoder) throws {
        try form.encode(to: encoder)
        var path = encoder.container(keyedBy: IDKey.self)
        try path.encode(id, forKey: .id)
    }
}

extension JSONValue {
    package static func orNull(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    package static func orNull(_ number: Int?) -> JSONValue { number.map { .integer(Int64($0)) } ?? .null }
}
