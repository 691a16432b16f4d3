import Contract

extension Monica {
    static let contacts: [any Contract.Endpoint.Type] = [
        ListContacts.self, GetContact.self, Create<Contact>.self, Update<Contact>.self, Delete<Contact>.self,
        SetWork.self, SetFood.self, SetIntroduction.self, SetTags.self, UnsetTag.self, UnsetTags.self,
    ]

    public enum ContactOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// What a contact brings along beside itself.
    public struct Inclusion: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``Contact/contactFields`` and the three newest ``Contact/notes``.
        public static let contactFields = Self(rawValue: "contactfields")
    }

    /// `GET /contacts`: a page of contacts, or of those that match a search; never partial ones.
    public struct ListContacts: Endpoint {
        public static let route = Route.get("/contacts")
        public typealias Output = APIResponse<[Contact]>
        public static let defaultLimit = 50
        public static let maximumLimit = 100
        public static let maximumQuery = 255

        /// Words of which each must be in a name, the nickname, the description or the job; case and accents do not
        /// matter. At most 255 characters. Blank is no search.
        public var query: String?
        public var part: Part<ContactOrder>
        public var with: Inclusion?

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
            guard (query?.trimmed.length ?? 0) <= Self.maximumQuery else { throw Refusal.query }
        }
    }

    /// `GET /contacts/{id}`
    public struct GetContact: Endpoint {
        public static let route = Route.get("/contacts/{id}")
        public typealias Output = APIResponse<Contact>

        public var id: Int
        public var with: Inclusion?

        public init(id: Int, with: Inclusion? = nil) {
            self.id = id
            self.with = with
        }

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

    /// A date of a contact as a write gives it: known in full, without its year, or by an age.
    public enum DraftDate: Hashable, Sendable {
        case day(Day)
        /// The year is not known.
        case dayOfYear(month: Int, day: Int)
        /// About so many years ago.
        case age(Int)

        /// Its fields, by what their names begin with.
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

    public struct ContactDraft: Draft, Hashable {
        public typealias Item = Contact

        /// At most 255 characters, like every text of a contact.
        public var firstName: String
        public var middleName: String?
        public var lastName: String?
        public var nickname: String?
        public var description: String?
        /// One of ``ListGenders``.
        public var genderID: Int?
        /// Only when the contact is made.
        public var email: String?
        public var birthdate: DraftDate?
        public var isDeceased: Bool
        public var deceasedDate: DraftDate?
        public var isPartial: Bool
        /// Nil leaves it as it is.
        public var isStarred: Bool?

        public init(
            firstName: String, middleName: String? = nil, lastName: String? = nil, nickname: String? = nil,
            description: String? = nil, genderID: Int? = nil, email: String? = nil, birthdate: DraftDate? = nil,
            isDeceased: Bool = false, deceasedDate: DraftDate? = nil, isPartial: Bool = false, isStarred: Bool? = nil
        ) {
            self.firstName = firstName
            self.middleName = middleName
            self.lastName = lastName
            self.nickname = nickname
            self.description = description
            self.genderID = genderID
            self.email = email
            self.birthdate = birthdate
            self.isDeceased = isDeceased
            self.deceasedDate = deceasedDate
            self.isPartial = isPartial
            self.isStarred = isStarred
        }

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

    /// `PUT /contacts/{id}/work`. Of a partial contact 422, like the two that follow.
    public struct SetWork: Endpoint {
        public static let route = Route.put("/contacts/{id}/work", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>

        public var id: Int
        public var form: Form

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

    /// `PUT /contacts/{id}/food`
    public struct SetFood: Endpoint {
        public static let route = Route.put("/contacts/{id}/food", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>

        public var id: Int
        public var form: Form

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

    /// `PUT /contacts/{id}/introduction`
    public struct SetIntroduction: Endpoint {
        public static let route = Route.put("/contacts/{id}/introduction", alternatives: [.patch])
        public typealias Output = APIResponse<Contact>

        public var id: Int
        public var form: Form

        /// - Parameter metThrough: A contact of the account.
        public init(id: Int, generalInformation: String?, metThrough: Int? = nil, date: DraftDate? = nil) {
            self.id = id
            var fields: [String: JSONValue] = [
                "general_information": .orNull(generalInformation), "met_through_contact_id": .orNull(metThrough),
                "is_date_known": .bool(date != nil),
            ]
            for (name, value) in date?.fields("date") ?? [:] {
                // Its fields bear no prefix.
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

    /// `POST /contacts/{id}/setTags`: adds tags by name, making those that are missing.
    public struct SetTags: Endpoint {
        public static let route = Route.post("/contacts/{id}/setTags")
        public typealias Output = APIResponse<Contact>

        public var id: Int
        public var form: Form

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

        public var id: Int
        public var form: Form

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

    /// `POST /contacts/{id}/unsetTags`: removes all.
    public struct UnsetTags: Endpoint {
        public static let route = Route.post("/contacts/{id}/unsetTags")
        public typealias Output = APIResponse<Contact>

        public var id: Int
        public var form = Form([:])

        public init(id: Int) { self.id = id }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }
}

/// What every write on a resource is: its id in the path, the rest in the body.
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
    static func orNull(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    static func orNull(_ number: Int?) -> JSONValue { number.map { .integer(Int64($0)) } ?? .null }
}
