import Contract
import ContractClient
import MonicaAPI

/// Whole lists, which read a page when its elements are asked for.
extension MonicaAPIClient {
    /// The position of the next page.
    public struct Cursor: Hashable, Sendable {
        var page: Int
        var limit: Int
    }

    /// Every contact, or those that match a search.
    ///
    /// - Parameters:
    ///   - query: Words of which each must occur in a name, the nickname, the description or the job.
    ///   - sort: The order; by default the oldest first.
    ///   - pageSize: The number of contacts read at a time, at most 100; servers that return fewer are asked for fewer.
    public func contacts(
        matching query: String? = nil, sortedBy sort: Monica.Sort<Monica.ContactOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Contact, Cursor> {
        pages(pageSize) {
            try await list(page: $0, limit: $1) {
                try await send(Monica.ListContacts(query: query, page: $0, limit: $1, sort: sort))
            }
        }
    }

    /// The contacts with a tag.
    public func contacts(
        tagged tag: Int, sortedBy sort: Monica.Sort<Monica.ContactOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Contact, Cursor> {
        pages(pageSize) {
            try await list(page: $0, limit: $1) {
                try await send(Monica.ListContactsOfTag(tag: tag, page: $0, limit: $1, sort: sort))
            }
        }
    }

    /// Every contact, with additional parts: the ways to reach it, its newest notes.
    ///
    /// - Parameters:
    ///   - parts: The additional parts of each contact.
    ///   - query: Words of which each must occur in a name, the nickname, the description or the job.
    ///   - sort: The order; by default the oldest first.
    ///   - pageSize: The number of contacts read at a time, at most 100; servers that return fewer are asked for fewer.
    public func contacts(
        with parts: Monica.Inclusion, matching query: String? = nil,
        sortedBy sort: Monica.Sort<Monica.ContactOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Contact, Cursor> {
        pages(pageSize) {
            try await list(page: $0, limit: $1) {
                try await send(Monica.ListContacts(query: query, page: $0, limit: $1, sort: sort, with: parts))
            }
        }
    }

    /// Every tag, by default by name.
    public func tags(
        sortedBy sort: Monica.Sort<Monica.TagOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Tag, Cursor> {
        pages(pageSize) {
            try await list(page: $0, limit: $1) {
                try await send(Monica.ListTags(sort: sort, page: $0, limit: $1))
            }
        }
    }

    /// Every activity, or those of one contact; by default the latest first.
    public func activities(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.ActivityOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Activity, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every note, or those of one contact; by default the newest first.
    public func notes(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.NoteOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Note, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every task, or those of one contact; by default open ones first.
    public func tasks(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.TaskOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Task, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every gift, or those for one contact; by default the oldest first.
    public func gifts(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.GiftOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Gift, Cursor> { listed(of: contact, sort, pageSize) }

    /// The ways to reach a contact; by default the oldest first.
    public func contactFields(
        of contact: Int, sortedBy sort: Monica.Sort<Monica.ContactFieldOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.ContactField, Cursor> { details(of: contact, sort, pageSize) }

    /// The addresses of a contact; by default the oldest first.
    public func addresses(
        of contact: Int, sortedBy sort: Monica.Sort<Monica.AddressOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Address, Cursor> { details(of: contact, sort, pageSize) }

    /// Every call, or those with one contact; by default the oldest first.
    public func calls(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.CallOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Call, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every conversation, or those with one contact; by default the oldest first.
    public func conversations(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.ConversationOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Conversation, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every reminder, or those of one contact; by default the oldest first.
    public func reminders(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.ReminderOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Reminder, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every debt, or those with one contact; by default the oldest first.
    public func debts(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.DebtOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Debt, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every pet, or those of one contact; by default the oldest first.
    public func pets(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.PetOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Pet, Cursor> { listed(of: contact, sort, pageSize) }

    /// The life events of all contacts; by default the oldest first. Those of one contact are in ``Monica/List``, on this
    /// project's server.
    public func lifeEvents(
        sortedBy sort: Monica.Sort<Monica.LifeEventOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.LifeEvent, Cursor> { listed(of: nil, sort, pageSize) }

    /// Every photo, or those of one contact; by default the oldest first.
    public func photos(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.FileOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Photo, Cursor> { listed(of: contact, sort, pageSize) }

    /// Every document, or those of one contact; by default the oldest first.
    public func documents(
        of contact: Int? = nil, sortedBy sort: Monica.Sort<Monica.FileOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.Document, Cursor> { listed(of: contact, sort, pageSize) }

    /// The owner's journal; by default the oldest entries first.
    public func journal(
        sortedBy sort: Monica.Sort<Monica.JournalOrder>? = nil, pageSize: Int = 100
    ) -> Pages<Monica.JournalEntry, Cursor> {
        pages(pageSize) {
            try await list(page: $0, limit: $1) {
                try await send(Monica.ListJournal(page: $0, limit: $1, sort: sort))
            }
        }
    }

    /// Other servers have the lists of such things only under the contact's path.
    private func details<Item: Monica.Listed>(
        of contact: Int, _ sort: Monica.Sort<Item.By>?, _ size: Int
    ) -> Pages<Item, Cursor> {
        pages(size) {
            try await list(page: $0, limit: $1) {
                try await send(Monica.ListOfContact<Item>(contact: contact, page: $0, limit: $1, sort: sort))
            }
        }
    }

    private func listed<Item: Monica.Listed>(
        of contact: Int?, _ sort: Monica.Sort<Item.By>?, _ size: Int
    ) -> Pages<Item, Cursor> {
        pages(size) { try await list(of: contact, page: $0, limit: $1, sort: sort) }
    }

    private func pages<Element: Codable & Sendable>(
        _ size: Int, _ ask: @escaping @Sendable (_ page: Int, _ limit: Int) async throws -> APIResponse<[Element]>
    ) -> Pages<Element, Cursor> {
        Pages(from: Cursor(page: 1, limit: size)) { cursor in
            let response = try await ask(cursor.page, cursor.limit)
            // The server's maximum is what it is asked for from now on.
            let limit = response.meta.flatMap { $0.per_page > 0 ? $0.per_page : nil } ?? cursor.limit
            let page = response.meta?.current_page ?? cursor.page
            let isLast =
                if let last = response.meta?.last_page {
                    page >= last
                } else if let total = response.meta?.total, total > 0 {
                    page >= PaginationMeta.lastPage(of: total, limit: limit)
                } else {
                    response.data.count < limit
                }
            let next = isLast || response.data.isEmpty ? nil : Cursor(page: page + 1, limit: limit)
            return (response.data, next)
        }
    }
}
