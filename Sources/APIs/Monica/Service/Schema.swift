import Backend
import Database

extension MonicaService {
    /// The tables of the API. Times are milliseconds since 1970, and days are counted from 1970-01-01.
    ///
    /// Contacts of an account are created one after the other, each later than the last, so the order of ids is the
    /// order of creation.
    public static let schema = Schema(
        "monica",
        [
            .init(
                "accounts",
                [
                    // `revision` is no longer used. `contact_count` does not count partial contacts.
                    """
                    CREATE TABLE accounts (
                        id {ID}, name {KEY} NOT NULL UNIQUE, uuid {KEY} NOT NULL, first_name TEXT NOT NULL,
                        last_name TEXT NOT NULL, email TEXT NOT NULL,
                        contact_count BIGINT NOT NULL DEFAULT 0, revision BIGINT NOT NULL DEFAULT 0,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    """
                    CREATE TABLE tokens (
                        id {ID}, account_id BIGINT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
                        digest {BYTES} NOT NULL UNIQUE, created_at BIGINT NOT NULL, last_used_at BIGINT)
                    """,
                    "CREATE INDEX tokens_of_account ON tokens (account_id, id)",
                    """
                    CREATE TABLE genders (
                        id {ID}, account_id BIGINT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
                        type TEXT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX genders_of_account ON genders (account_id, id)",
                    // The kind is one of `ContactFieldKind`.
                    """
                    CREATE TABLE contact_field_types (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        kind {KEY} NOT NULL, created_at BIGINT NOT NULL, UNIQUE (account_id, kind))
                    """,
                    """
                    CREATE TABLE activity_categories (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        name TEXT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    """
                    CREATE TABLE activity_types (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        category_id BIGINT NOT NULL REFERENCES activity_categories (id), name TEXT NOT NULL,
                        location_type TEXT, created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX activity_types_of_account ON activity_types (account_id, id)",
                ] + IdempotencyStore.table + RateLimits.tables),
            .init(
                "contacts",
                [
                    // The searched texts of many contacts in one text, with a line for each.
                    """
                    CREATE TABLE search_blocks (
                        id {ID}, account_id BIGINT NOT NULL REFERENCES accounts (id), size BIGINT NOT NULL,
                        lines TEXT NOT NULL)
                    """,
                    "CREATE INDEX search_blocks_of_account ON search_blocks (account_id, id)",
                    // The kinds of dates: 0 is exact, 1 is derived from an age, 2 has no year. `card` is the digest
                    // that identifies the vCard of a contact, when the card has no UUID.
                    """
                    CREATE TABLE contacts (
                        id {ID}, uuid {KEY} NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        first_name TEXT NOT NULL, middle_name TEXT, last_name TEXT, nickname TEXT, description TEXT,
                        gender_id BIGINT REFERENCES genders (id), is_starred BIGINT NOT NULL,
                        is_partial BIGINT NOT NULL, is_dead BIGINT NOT NULL, birth_day BIGINT, birth_kind BIGINT,
                        death_day BIGINT, death_kind BIGINT, job TEXT, company TEXT, food TEXT, met_how TEXT,
                        met_day BIGINT, met_kind BIGINT, met_through BIGINT REFERENCES contacts (id),
                        block_id BIGINT REFERENCES search_blocks (id), card {BYTES}, created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL, UNIQUE (account_id, uuid))
                    """,
                    "CREATE INDEX contacts_of_card ON contacts (account_id, card)",
                    "CREATE INDEX contacts_of_account ON contacts (account_id, id)",
                    "CREATE INDEX contacts_in_order ON contacts (account_id, is_partial, id)",
                    "CREATE INDEX contacts_by_change ON contacts (account_id, is_partial, updated_at, id)",
                    "CREATE INDEX contacts_met_through ON contacts (met_through)",
                    """
                    CREATE TABLE contact_fields (
                        id {ID}, uuid TEXT NOT NULL, contact_id BIGINT NOT NULL REFERENCES contacts (id),
                        type_id BIGINT NOT NULL REFERENCES contact_field_types (id), content TEXT NOT NULL,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX fields_of_contact ON contact_fields (contact_id, id)",
                    """
                    CREATE TABLE addresses (
                        id {ID}, uuid TEXT NOT NULL, contact_id BIGINT NOT NULL REFERENCES contacts (id), name TEXT,
                        street TEXT, city TEXT, province TEXT, postal_code TEXT, country TEXT,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX addresses_of_contact ON addresses (contact_id, id)",
                    // Names are compared by their keys, which are in lower case.
                    """
                    CREATE TABLE tags (
                        id {ID}, account_id BIGINT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
                        name_key {KEY} NOT NULL, slug TEXT NOT NULL, created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL, UNIQUE (account_id, name_key))
                    """,
                    """
                    CREATE TABLE contact_tags (
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), tag_id BIGINT NOT NULL REFERENCES tags (id),
                        PRIMARY KEY (contact_id, tag_id))
                    """,
                    "CREATE INDEX contacts_of_tag ON contact_tags (tag_id, contact_id)",
                ]),
            .init(
                "activities, notes, tasks and gifts",
                [
                    """
                    CREATE TABLE activities (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        type_id BIGINT REFERENCES activity_types (id), summary TEXT NOT NULL, description TEXT,
                        happened_at BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX activities_in_order ON activities (account_id, happened_at, id)",
                    """
                    CREATE TABLE activity_contacts (
                        activity_id BIGINT NOT NULL REFERENCES activities (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), PRIMARY KEY (activity_id, contact_id))
                    """,
                    "CREATE INDEX activities_of_contact ON activity_contacts (contact_id, activity_id)",
                    """
                    CREATE TABLE notes (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), body TEXT NOT NULL, favorited_at BIGINT,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX notes_in_order ON notes (account_id, created_at, id)",
                    "CREATE INDEX notes_of_contact ON notes (contact_id, created_at, id)",
                    """
                    CREATE TABLE tasks (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT REFERENCES contacts (id), title TEXT NOT NULL, description TEXT,
                        completed BIGINT NOT NULL, completed_at BIGINT, created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX tasks_in_order ON tasks (account_id, completed, created_at, id)",
                    "CREATE INDEX tasks_of_contact ON tasks (contact_id, completed, created_at, id)",
                    """
                    CREATE TABLE gifts (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), name TEXT NOT NULL, comment TEXT, url TEXT,
                        cents BIGINT, status TEXT NOT NULL, day BIGINT,
                        recipient_id BIGINT REFERENCES contacts (id), created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX gifts_in_order ON gifts (account_id, created_at, id)",
                    "CREATE INDEX gifts_of_contact ON gifts (contact_id, created_at, id)",
                    "CREATE INDEX gifts_of_recipient ON gifts (recipient_id)",
                ]),
            .init(
                "imports in batches",
                [
                    // An import that has not ended. Its rows have its id and are hidden. The state is one of
                    // `Imports.State`, `first_contact` is the account's newest contact before the import, and `owner`
                    // is its process.
                    """
                    CREATE TABLE imports (
                        id {ID}, account_id BIGINT NOT NULL UNIQUE REFERENCES accounts (id), state BIGINT NOT NULL,
                        made_account BIGINT NOT NULL, first_contact BIGINT NOT NULL, alive_at BIGINT NOT NULL,
                        owner {KEY} NOT NULL)
                    """,
                    // The changes that an import makes when it ends: a card, as JSON, for an existing contact.
                    """
                    CREATE TABLE import_updates (
                        import_id BIGINT NOT NULL, contact_id BIGINT NOT NULL, overwrites BIGINT NOT NULL,
                        card TEXT NOT NULL, PRIMARY KEY (import_id, contact_id))
                    """,
                    "ALTER TABLE contacts ADD COLUMN import_id BIGINT",
                    // The REV of the newest card that created or changed a contact, and whether it was changed by other
                    // means since.
                    "ALTER TABLE contacts ADD COLUMN revised_at BIGINT",
                    "ALTER TABLE contacts ADD COLUMN is_edited BIGINT NOT NULL DEFAULT 0",
                    "ALTER TABLE tags ADD COLUMN import_id BIGINT",
                    // The name as the card has it, when that is its parts in another order: 李小龍.
                    "ALTER TABLE contacts ADD COLUMN formatted_name TEXT",
                ]),
            .init("contacts found by parts of words", ContactSearch.migration),
            // The time of deletion of an account whose records are being removed (`AccountDeletion`).
            .init(
                "deleted accounts",
                [
                    "ALTER TABLE accounts ADD COLUMN deleted_at BIGINT",
                    "CREATE INDEX accounts_deleted ON accounts (id) WHERE deleted_at IS NOT NULL",
                ]),
            // A type with which an account begins has a kind of `ContactFieldKind`, and no name until it is changed. The
            // kind of another one is no word, but unique in the account.
            .init(
                "types of contact fields",
                [
                    "ALTER TABLE contact_field_types ADD COLUMN name TEXT",
                    "ALTER TABLE contact_field_types ADD COLUMN icon TEXT",
                    "ALTER TABLE contact_field_types ADD COLUMN protocol TEXT",
                    "ALTER TABLE contact_field_types ADD COLUMN type TEXT",
                    "ALTER TABLE contact_field_types ADD COLUMN updated_at BIGINT",
                    "ALTER TABLE contact_field_types ADD COLUMN import_id BIGINT",
                    "CREATE INDEX fields_of_type ON contact_fields (type_id)",
                ]),
            .init(
                "people whom operators find and suspend",
                PeopleSearch.indexes(of: "accounts", searched: ["name", "email"]) + Suspension.columns(of: "accounts")),
            .init("archives", Archives<Accounts>.table(of: "BIGINT")),
            .init(
                "calls and reminders",
                [
                    // An account is reminded at an hour of its zone's days.
                    "ALTER TABLE accounts ADD COLUMN zone TEXT NOT NULL DEFAULT 'UTC'",
                    "ALTER TABLE accounts ADD COLUMN reminder_hour BIGINT NOT NULL DEFAULT 9",
                    """
                    CREATE TABLE calls (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), called_at BIGINT NOT NULL, content TEXT,
                        contact_called BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX calls_in_order ON calls (account_id, created_at, id)",
                    "CREATE INDEX calls_of_contact ON calls (contact_id, called_at)",
                    // The next date, by the account's days, and the moment of its e-mail; null behind the last date.
                    """
                    CREATE TABLE reminders (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), title TEXT NOT NULL, description TEXT,
                        initial_day BIGINT NOT NULL, frequency_type TEXT NOT NULL, frequency_number BIGINT NOT NULL,
                        due_day BIGINT, due_at BIGINT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX reminders_in_order ON reminders (account_id, created_at, id)",
                    "CREATE INDEX reminders_of_contact ON reminders (contact_id, created_at, id)",
                    "CREATE INDEX reminders_by_day ON reminders (account_id, due_day, id)",
                    "CREATE INDEX reminders_due ON reminders (due_at, id)",
                ]),
            .init("e-mails about reminders", JobQueue<ReminderEmail>.table),
            .init(
                "a journal",
                [
                    """
                    CREATE TABLE journal (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        day BIGINT NOT NULL, title TEXT NOT NULL, post TEXT NOT NULL, created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX journal_in_order ON journal (account_id, created_at, id)",
                ]),
            .init(
                "debts",
                [
                    """
                    CREATE TABLE debts (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), in_debt TEXT NOT NULL,
                        status TEXT NOT NULL, cents BIGINT NOT NULL, reason TEXT, created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX debts_in_order ON debts (account_id, created_at, id)",
                    "CREATE INDEX debts_of_contact ON debts (contact_id, created_at, id)",
                ]),
            // The ids of the categories are those of `Monica.PetCategory`.
            .init(
                "pets",
                [
                    """
                    CREATE TABLE pets (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), category_id BIGINT NOT NULL, name TEXT,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX pets_in_order ON pets (account_id, created_at, id)",
                    "CREATE INDEX pets_of_contact ON pets (contact_id, created_at, id)",
                ]),
            // Each relationship is two rows: the contact's, and the other contact's of the reverse type. The ids of the types are
            // those of `RelationshipTypes`.
            .init(
                "relationships",
                [
                    """
                    CREATE TABLE relationships (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), type_id BIGINT NOT NULL,
                        of_contact_id BIGINT NOT NULL REFERENCES contacts (id), created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL, UNIQUE (contact_id, of_contact_id, type_id))
                    """,
                    "CREATE INDEX relationships_of_account ON relationships (account_id, id)",
                    "CREATE INDEX relationships_of_other ON relationships (of_contact_id)",
                ]),
            .init(
                "conversations",
                [
                    """
                    CREATE TABLE conversations (
                        id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id),
                        type_id BIGINT NOT NULL REFERENCES contact_field_types (id), happened_at BIGINT NOT NULL,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX conversations_in_order ON conversations (account_id, created_at, id)",
                    "CREATE INDEX conversations_of_contact ON conversations (contact_id, created_at, id)",
                    "CREATE INDEX conversations_of_type ON conversations (type_id)",
                    """
                    CREATE TABLE messages (
                        id {ID}, conversation_id BIGINT NOT NULL REFERENCES conversations (id), content TEXT NOT NULL,
                        written_at BIGINT NOT NULL, written_by_me BIGINT NOT NULL, created_at BIGINT NOT NULL,
                        updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX messages_of_conversation ON messages (conversation_id, id)",
                ]),
            // The ids of the types are those of `Monica.LifeEventKind`.
            .init(
                "life events",
                [
                    """
                    CREATE TABLE life_events (
                        id {ID}, account_id BIGINT NOT NULL REFERENCES accounts (id),
                        contact_id BIGINT NOT NULL REFERENCES contacts (id), type_id BIGINT NOT NULL, name TEXT,
                        note TEXT, happened_at BIGINT NOT NULL, month_unknown BIGINT NOT NULL,
                        day_unknown BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX life_events_in_order ON life_events (account_id, created_at, id)",
                    "CREATE INDEX life_events_of_contact ON life_events (contact_id, created_at, id)",
                    // The life event with which a reminder was made and is deleted.
                    "ALTER TABLE reminders ADD COLUMN life_event_id BIGINT REFERENCES life_events (id)",
                    "CREATE INDEX reminders_of_life_event ON reminders (life_event_id)",
                ]),
            // Rows that were never changed have no time of it.
            .init(
                "changes of genders and types of activities",
                [
                    "ALTER TABLE genders ADD COLUMN updated_at BIGINT",
                    "ALTER TABLE activity_types ADD COLUMN updated_at BIGINT",
                    "ALTER TABLE activity_categories ADD COLUMN updated_at BIGINT",
                    "CREATE INDEX activity_categories_of_account ON activity_categories (account_id, id)",
                    "CREATE INDEX activity_types_of_category ON activity_types (category_id)",
                    "CREATE INDEX activities_of_type ON activities (type_id)",
                    "CREATE INDEX contacts_of_gender ON contacts (gender_id)",
                ]),
            // Null is the form of the contract.
            .init("dialects of tokens", ["ALTER TABLE tokens ADD COLUMN dialect TEXT"]),
            .init("apps that sign in", SignIn.tables),
            // The contact that remains, the one that was merged into it and is gone, and what undoes the merge: a
            // `MergeRecord`, as JSON.
            .init(
                "merges",
                [
                    """
                    CREATE TABLE merges (
                        id {ID}, account_id BIGINT NOT NULL REFERENCES accounts (id), contact_id BIGINT NOT NULL,
                        other_id BIGINT NOT NULL, other_name TEXT NOT NULL, record TEXT NOT NULL,
                        merged_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX merges_of_account ON merges (account_id)",
                    "CREATE INDEX merges_of_contact ON merges (contact_id, id)",
                    "CREATE INDEX merges_of_other ON merges (other_id, id)",
                    "CREATE INDEX merges_by_time ON merges (merged_at)",
                ]),
            .init("the number of uploads in an hour", UploadThrottle.tables),
            .init(
                "photos and documents",
                MonicaService.files("photos") + MonicaService.files("documents") + [
                    """
                    CREATE TABLE gift_photos (
                        gift_id BIGINT NOT NULL REFERENCES gifts (id),
                        photo_id BIGINT NOT NULL REFERENCES photos (id), PRIMARY KEY (gift_id, photo_id))
                    """,
                    "CREATE INDEX gift_photos_of_photo ON gift_photos (photo_id)",
                    // Both are null for the initials. A photo refers to its contact, so this is no reference to the photo.
                    "ALTER TABLE contacts ADD COLUMN avatar_source TEXT",
                    "ALTER TABLE contacts ADD COLUMN avatar_photo_id BIGINT",
                    "CREATE INDEX contacts_by_avatar ON contacts (avatar_photo_id)",
                ]),
            .init(
                "addresses of an account in order",
                [
                    "ALTER TABLE addresses ADD COLUMN account_id BIGINT",
                    """
                    UPDATE addresses SET account_id =
                        (SELECT c.account_id FROM contacts c WHERE c.id = addresses.contact_id)
                    """,
                    "CREATE INDEX addresses_in_order ON addresses (account_id, created_at, id)",
                ]),
        ])

    /// Returns the statements that make a table of stored files.
    private static func files(_ table: String) -> [String] {
        [
            """
            CREATE TABLE \(table) (
                id {ID}, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
                contact_id BIGINT NOT NULL REFERENCES contacts (id), filename TEXT NOT NULL,
                object_key {KEY} NOT NULL UNIQUE, size BIGINT NOT NULL, mime_type TEXT NOT NULL,
                created_at BIGINT NOT NULL)
            """,
            "CREATE INDEX \(table)_in_order ON \(table) (account_id, created_at, id)",
            "CREATE INDEX \(table)_of_contact ON \(table) (contact_id, created_at, id)",
        ]
    }
}
