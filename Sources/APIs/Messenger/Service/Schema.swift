import Backend
import Database

extension MessengerService {
    /// The tables of the API. Times are milliseconds since 1970.
    public static let schema = Schema(
        "messenger",
        [
            .init(
                "accounts",
                [
                    // Names are compared by their keys, which are composed and in lower case.
                    """
                    CREATE TABLE users (
                        id {ID}, username TEXT NOT NULL, username_key {KEY} NOT NULL UNIQUE,
                        email TEXT NOT NULL, email_key {KEY} NOT NULL UNIQUE,
                        display_name TEXT NOT NULL, display_key {KEY} NOT NULL,
                        bio TEXT, avatar_file_id BIGINT, password TEXT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    // A session's row is deleted when the session ends. Its refresh token is stored as SHA-256.
                    """
                    CREATE TABLE sessions (
                        id {KEY} PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
                        refresh_hash {BYTES} NOT NULL UNIQUE, expires_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX sessions_of_user ON sessions (user_id)",
                    "CREATE INDEX sessions_age ON sessions (expires_at)",
                ] + SignInThrottle.tables + IdempotencyStore.table),
            .init(
                "chats",
                [
                    // A direct chat has the ids of its pair, the lower id first, so that each pair has one chat.
                    """
                    CREATE TABLE chats (
                        id {ID}, type TEXT NOT NULL, name TEXT, owner_id BIGINT NOT NULL REFERENCES users (id),
                        direct_low BIGINT, direct_high BIGINT,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
                        UNIQUE (direct_low, direct_high))
                    """,
                    """
                    CREATE TABLE members (
                        chat_id BIGINT NOT NULL REFERENCES chats (id), user_id BIGINT NOT NULL REFERENCES users (id),
                        role TEXT NOT NULL, joined_at BIGINT NOT NULL, last_read_id BIGINT, read_at BIGINT,
                        PRIMARY KEY (chat_id, user_id))
                    """,
                    "CREATE INDEX chats_of_member ON members (user_id, chat_id)",
                ]),
            .init(
                "messages and files",
                [
                    """
                    CREATE TABLE files (
                        id {ID}, owner_id BIGINT NOT NULL REFERENCES users (id), filename TEXT NOT NULL,
                        mime_type TEXT NOT NULL, object_key {KEY} NOT NULL UNIQUE, size BIGINT NOT NULL,
                        created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX storage_of_user ON files (owner_id, size)",
                    """
                    CREATE TABLE messages (
                        id {ID}, chat_id BIGINT NOT NULL REFERENCES chats (id), sender_id BIGINT NOT NULL,
                        content TEXT NOT NULL, type TEXT NOT NULL, file_id BIGINT REFERENCES files (id),
                        created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX messages_of_chat ON messages (chat_id, id)",
                    "CREATE INDEX messages_with_file ON messages (file_id, chat_id) WHERE file_id IS NOT NULL",
                ]),
            .init(
                "memberships that change",
                // Counts the changes of a chat's members.
                ["ALTER TABLE chats ADD COLUMN membership_version BIGINT NOT NULL DEFAULT 0"]),
            .init(
                "messages that change",
                [
                    // Grows with each change of the members and of messages.
                    "ALTER TABLE chats RENAME COLUMN membership_version TO version",
                    "ALTER TABLE messages ADD COLUMN edited_at BIGINT",
                    // The index has the sender, so that unread messages are counted without reading each.
                    "DROP INDEX messages_of_chat",
                    "CREATE INDEX messages_of_chat ON messages (chat_id, id, sender_id)",
                ]),
            .init(
                "people who go, and are kept away",
                [
                    // The row of a deleted user stays, without personal data.
                    "ALTER TABLE users ADD COLUMN deleted_at BIGINT",
                    """
                    CREATE TABLE blocks (
                        blocker_id BIGINT NOT NULL REFERENCES users (id),
                        blocked_id BIGINT NOT NULL REFERENCES users (id),
                        created_at BIGINT NOT NULL, PRIMARY KEY (blocker_id, blocked_id))
                    """,
                    "CREATE INDEX blocks_against ON blocks (blocked_id, blocker_id)",
                    // A report keeps a copy, whatever happens to the users and the message.
                    """
                    CREATE TABLE reports (
                        id {ID}, reporter_id BIGINT NOT NULL, user_id BIGINT, message_id BIGINT, chat_id BIGINT,
                        sender_id BIGINT, content TEXT, file_id BIGINT, reason TEXT NOT NULL, details TEXT,
                        created_at BIGINT NOT NULL)
                    """,
                ]),
            .init(
                "chats are dated by their newest message",
                [
                    // The time of chats whose newest message was deleted had not been updated.
                    """
                    UPDATE chats SET updated_at = COALESCE((
                        SELECT m.created_at FROM messages m WHERE m.chat_id = chats.id ORDER BY m.id DESC LIMIT 1),
                        created_at)
                    """
                ]),
            FoldedNames.migration(adding: IdempotencyStore.subjects, to: "users", where: "deleted_at IS NULL"),
            .init("people found by parts of their names", UserSearch.migration),
            .init(
                "reports that say nothing of accounts that are no more",
                [
                    "CREATE INDEX reports_by ON reports (reporter_id)",
                    "CREATE INDEX reports_of_user ON reports (user_id)",
                    "CREATE INDEX reports_of_sender ON reports (sender_id)",
                ]),
            .init(
                "events with numbers",
                // Counts what sockets of the chat are told, so that a node notices what it was not told.
                ["ALTER TABLE chats ADD COLUMN events BIGINT NOT NULL DEFAULT 0"]),
            .init(
                "changes of messages after a version",
                [
                    // The chat's version of the last edit.
                    "ALTER TABLE messages ADD COLUMN version BIGINT",
                    "CREATE INDEX changed_messages ON messages (chat_id, version) WHERE version IS NOT NULL",
                    """
                    CREATE TABLE deleted_messages (
                        chat_id BIGINT NOT NULL REFERENCES chats (id), version BIGINT NOT NULL,
                        message_id BIGINT NOT NULL, PRIMARY KEY (chat_id, version))
                    """,
                    // All changes after this version are known; not those from before this step.
                    "ALTER TABLE chats ADD COLUMN changes_known_from BIGINT NOT NULL DEFAULT 0",
                    "UPDATE chats SET changes_known_from = version",
                ]),
            .init(
                "devices, and the messages that they are still to be notified of",
                [
                    // A device goes with its session, also when a node of the version before ends it.
                    """
                    CREATE TABLE devices (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id),
                        session_id {KEY} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                        token {KEY} NOT NULL UNIQUE, environment TEXT NOT NULL, registered_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX devices_of_user ON devices (user_id, registered_at)",
                    "CREATE INDEX devices_of_session ON devices (session_id)",
                ] + JobQueue<PushJob>.table),
            .init(
                "muted chats",
                // Null for a chat that the member has not muted.
                ["ALTER TABLE members ADD COLUMN muted_until BIGINT"]),
            .init("sessions that their users see", SessionNotes.columns),
            .init("e-mails about accounts", AccountEmails<Users>.tables(outbox: emailTable)),
            .init(
                "people whom operators find and suspend",
                PeopleSearch.indexes(of: "users", searched: ["username", "email", "display_name"])
                    + Suspension.columns(of: "users")),
            .init("archives", Archives<Users>.table(of: "BIGINT")),
            .init("a queue of reports", Reports.Queue.tables(ids: "BIGINT") + Reports.adoption),
            .init(
                "who may register, and the terms that a person has accepted",
                Registration.tables + [Registration.termsColumn(of: "users")]),
            .init("reports of flagged words", Reports.Queue.flags),
        ])
}
