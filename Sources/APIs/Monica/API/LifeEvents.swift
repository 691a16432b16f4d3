import Contract

extension Monica {
    static let lifeEvents = Section(
        "Life events",
        [
            List<LifeEvent>.self, Get<LifeEvent>.self, Create<LifeEvent>.self, Update<LifeEvent>.self,
            Delete<LifeEvent>.self,
        ])

    /// The orders of a list of life events.
    public enum LifeEventOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case happenedAt = "happened_at"
    }

    /// A word for a type of life events, such as `new_job`.
    public struct LifeEventKind: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A new job.
        public static let newJob = Self(rawValue: "new_job")
        /// The end of working life.
        public static let retirement = Self(rawValue: "retirement")
        /// A new school.
        public static let newSchool = Self(rawValue: "new_school")
        /// Studies in another country.
        public static let studyAbroad = Self(rawValue: "study_abroad")
        /// Work as a volunteer.
        public static let volunteerWork = Self(rawValue: "volunteer_work")
        /// A book or a paper was published.
        public static let publishedBookOrPaper = Self(rawValue: "published_book_or_paper")
        /// Service in an army.
        public static let militaryService = Self(rawValue: "military_service")
        /// A new relationship.
        public static let newRelationship = Self(rawValue: "new_relationship")
        /// An engagement.
        public static let engagement = Self(rawValue: "engagement")
        /// A marriage.
        public static let marriage = Self(rawValue: "marriage")
        /// An anniversary.
        public static let anniversary = Self(rawValue: "anniversary")
        /// A child is expected.
        public static let expectingABaby = Self(rawValue: "expecting_a_baby")
        /// A child was born or adopted.
        public static let newChild = Self(rawValue: "new_child")
        /// A new member of the family.
        public static let newFamilyMember = Self(rawValue: "new_family_member")
        /// A new pet.
        public static let newPet = Self(rawValue: "new_pet")
        /// A relationship ended.
        public static let endOfRelationship = Self(rawValue: "end_of_relationship")
        /// A loved one died.
        public static let lossOfALovedOne = Self(rawValue: "loss_of_a_loved_one")
        /// A move.
        public static let moved = Self(rawValue: "moved")
        /// A home was bought.
        public static let boughtAHome = Self(rawValue: "bought_a_home")
        /// A home was improved.
        public static let homeImprovement = Self(rawValue: "home_improvement")
        /// Holidays.
        public static let holidays = Self(rawValue: "holidays")
        /// A new vehicle.
        public static let newVehicle = Self(rawValue: "new_vehicle")
        /// A new roommate.
        public static let newRoommate = Self(rawValue: "new_roommate")
        /// An illness was overcome.
        public static let overcameAnIllness = Self(rawValue: "overcame_an_illness")
        /// A habit was given up.
        public static let quitAHabit = Self(rawValue: "quit_a_habit")
        /// New eating habits.
        public static let newEatingHabits = Self(rawValue: "new_eating_habits")
        /// A loss of weight.
        public static let weightLoss = Self(rawValue: "weight_loss")
        /// Glasses or contact lenses.
        public static let wearGlassOrContact = Self(rawValue: "wear_glass_or_contact")
        /// A broken bone.
        public static let brokenBone = Self(rawValue: "broken_bone")
        /// Braces were removed.
        public static let removedBraces = Self(rawValue: "removed_braces")
        /// A surgery.
        public static let surgery = Self(rawValue: "surgery")
        /// A visit to the dentist.
        public static let dentist = Self(rawValue: "dentist")
        /// A new sport.
        public static let newSport = Self(rawValue: "new_sport")
        /// A new hobby.
        public static let newHobby = Self(rawValue: "new_hobby")
        /// A new instrument.
        public static let newInstrument = Self(rawValue: "new_instrument")
        /// A new language.
        public static let newLanguage = Self(rawValue: "new_language")
        /// A tattoo or a piercing.
        public static let tattooOrPiercing = Self(rawValue: "tattoo_or_piercing")
        /// A new licence.
        public static let newLicense = Self(rawValue: "new_license")
        /// A journey.
        public static let travel = Self(rawValue: "travel")
        /// An achievement or an award.
        public static let achievementOrAward = Self(rawValue: "achievement_or_award")
        /// A change of beliefs.
        public static let changedBeliefs = Self(rawValue: "changed_beliefs")
        /// A first word.
        public static let firstWord = Self(rawValue: "first_word")
        /// A first kiss.
        public static let firstKiss = Self(rawValue: "first_kiss")
        /// All kinds, in the order of their types' ids.
        public static let known = categories.flatMap(\.kinds)

        /// The words of the categories and the kinds in each.
        package static let categories: [(word: String, kinds: [Self])] = [
            (
                "work_education",
                [
                    .newJob, .retirement, .newSchool, .studyAbroad, .volunteerWork, .publishedBookOrPaper,
                    .militaryService,
                ]
            ),
            (
                "family_relationships",
                [
                    .newRelationship, .engagement, .marriage, .anniversary, .expectingABaby, .newChild,
                    .newFamilyMember, .newPet, .endOfRelationship, .lossOfALovedOne,
                ]
            ),
            (
                "home_living",
                [
                    .moved, .boughtAHome, .homeImprovement, .holidays, .newVehicle, .newRoommate,
                ]
            ),
            (
                "health_wellness",
                [
                    .overcameAnIllness, .quitAHabit, .newEatingHabits, .weightLoss, .wearGlassOrContact, .brokenBone,
                    .removedBraces, .surgery, .dentist,
                ]
            ),
            (
                "travel_experiences",
                [
                    .newSport, .newHobby, .newInstrument, .newLanguage, .tattooOrPiercing, .newLicense, .travel,
                    .achievementOrAward, .changedBeliefs, .firstWord, .firstKiss,
                ]
            ),
        ]

        /// The id of the type on this project's server; nil for a kind that it does not have. On other servers each account
        /// has types of its own.
        public var typeID: Int? { Self.known.firstIndex(of: self).map { $0 + 1 } }
    }

    /// A type of life events. Every account of this project's server has the same ones, with the same ids.
    public struct LifeEventType: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The id of the type.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "lifeeventtype"
        /// The name, such as `New job`.
        @OrNull public var name: String?
        /// Whether an account begins with the type. Those of this project's server do.
        public var coreMonicaData: Bool
        /// The kind; nil for a type that an account of another server has added.
        @OrNull public var defaultLifeEventTypeKey: LifeEventKind?
        /// The category of the type; nil when there is none.
        @OrNull public var lifeEventCategory: LifeEventCategory?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, name: String, kind: LifeEventKind, category: LifeEventCategory, account: Int, createdAt: Timestamp
        ) {
            self.id = id
            self.name = name
            coreMonicaData = true
            defaultLifeEventTypeKey = kind
            lifeEventCategory = category
            self.account = AccountReference(id: account)
            (self.createdAt, updatedAt) = (createdAt, createdAt)
        }
    }

    /// A category of types of life events.
    public struct LifeEventCategory: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The id of the category.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "lifeeventcategory"
        /// The name, such as `Work & education`.
        @OrNull public var name: String?
        /// Whether an account begins with the category. Those of this project's server do.
        public var coreMonicaData: Bool
        /// A word for the category, such as `work_education`; nil for one that an account of another server has added.
        @OrNull public var defaultLifeEventCategoryKey: String?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(id: Int, name: String, word: String, account: Int, createdAt: Timestamp) {
            self.id = id
            self.name = name
            coreMonicaData = true
            defaultLifeEventCategoryKey = word
            self.account = AccountReference(id: account)
            (self.createdAt, updatedAt) = (createdAt, createdAt)
        }
    }

    /// Something that happened in the life of a contact.
    public struct LifeEvent: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = LifeEventOrder
        public typealias Draft = LifeEventDraft
        public static let plural = "lifeevents"
        public static let singular = "life event"
        public static let fieldRules = lifeEventRules
        public static let newFieldRules = newLifeEventRules
        public static let createdStatus = HTTPStatus.ok

        /// The life event's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "lifeevent"
        /// The name; nil when there is none.
        @OrNull public var name: String?
        /// The owner's text; nil when there is none.
        @OrNull public var note: String?
        /// The time at which it happened.
        public var happenedAt: Timestamp
        /// Whether only the year is known. Other servers do not say it.
        public var happenedAtMonthUnknown: Bool
        /// Whether the day is not known. Other servers do not say it.
        public var happenedAtDayUnknown: Bool
        /// The type.
        public var lifeEventType: LifeEventType
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        package init(
            id: Int, name: String?, note: String?, happenedAt: Timestamp, isMonthUnknown: Bool, isDayUnknown: Bool,
            type: LifeEventType, account: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.name = name
            self.note = note
            self.happenedAt = happenedAt
            happenedAtMonthUnknown = isMonthUnknown
            happenedAtDayUnknown = isDayUnknown
            lifeEventType = type
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed life event.
    public struct LifeEventDraft: Draft, Hashable {
        public typealias Item = LifeEvent

        /// The contact's id. A life event stays with its contact: a change names the same one.
        public var contactID: Int
        /// The id of the type (``LifeEventKind/typeID``).
        public var typeID: Int
        /// The time at which it happened. A server also accepts a day, which stands for its beginning in UTC.
        public var happenedAt: Timestamp
        /// The name, of at most 255 characters; nil when there is none.
        public var name: String? = nil
        /// The owner's text, of at most 100,000 characters; nil when there is none.
        public var note: String? = nil
        /// Whether a new life event has a ``Reminder`` of its own, every year on its day, which is deleted with it.
        public var hasReminder: Bool = false
        /// Whether only the year is known.
        public var isMonthUnknown: Bool = false
        /// Whether the day is not known.
        public var isDayUnknown: Bool = false
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "life_event_type_id": .integer(Int64(typeID)),
                "happened_at": .string(happenedAt.description), "name": .orNull(name), "note": .orNull(note),
                "has_reminder": .bool(hasReminder), "happened_at_month_unknown": .bool(isMonthUnknown),
                "happened_at_day_unknown": .bool(isDayUnknown),
            ])
        }
    }
}
