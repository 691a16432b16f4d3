import Backend
import Database

extension DeuceDiaryService {
    /// The tables of the API. Times are milliseconds since 1970; ids of groups, entries and invites are UUIDs as text.
    public static let schema = Schema(
        "deuce-diary",
        [
            .init(
                "users and groups",
                [
                    // Usernames are compared by their keys, which are in lower case. A picture is the name of a file.
                    """
                    CREATE TABLE users (
                        id {KEY} PRIMARY KEY, email TEXT, first_name TEXT, last_name TEXT,
                        username TEXT, username_key {KEY} UNIQUE, picture {KEY} UNIQUE,
                        deuce_count BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    """
                    CREATE TABLE groups (
                        id {KEY} PRIMARY KEY, name TEXT NOT NULL, description TEXT,
                        created_by {KEY} NOT NULL REFERENCES users (id),
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
                        entry_count BIGINT NOT NULL DEFAULT 0, last_activity BIGINT)
                    """,
                    """
                    CREATE TABLE members (
                        id {ID}, group_id {KEY} NOT NULL REFERENCES groups (id),
                        user_id {KEY} NOT NULL REFERENCES users (id), role TEXT NOT NULL, joined_at BIGINT NOT NULL,
                        UNIQUE (group_id, user_id))
                    """,
                    "CREATE INDEX groups_of_member ON members (user_id, group_id)",
                    "CREATE INDEX members_in_order ON members (group_id, joined_at, id)",
                    """
                    CREATE TABLE invites (
                        id {KEY} PRIMARY KEY, group_id {KEY} NOT NULL REFERENCES groups (id),
                        created_by {KEY} NOT NULL REFERENCES users (id),
                        expires_at BIGINT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX invites_age ON invites (expires_at)",
                ] + IdempotencyStore.table),
            .init(
                "entries",
                [
                    // Entries that were logged together have one log id, in any number of groups.
                    """
                    CREATE TABLE entries (
                        id {KEY} PRIMARY KEY, log_id {KEY} NOT NULL, user_id {KEY} NOT NULL,
                        group_id {KEY} NOT NULL REFERENCES groups (id), location TEXT NOT NULL, thoughts TEXT NOT NULL,
                        logged_at BIGINT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX entries_in_order ON entries (group_id, created_at, id)",
                    "CREATE INDEX entries_of_log ON entries (log_id)",
                    // The number of a user's logs on each day since 1970, which saves counting them in queries.
                    """
                    CREATE TABLE days (
                        user_id {KEY} NOT NULL REFERENCES users (id), day BIGINT NOT NULL, logs BIGINT NOT NULL,
                        PRIMARY KEY (user_id, day))
                    """,
                    "CREATE INDEX top_days ON days (user_id, logs, day)",
                    """
                    CREATE TABLE reactions (
                        id {ID}, entry_id {KEY} NOT NULL REFERENCES entries (id),
                        user_id {KEY} NOT NULL REFERENCES users (id), emoji {KEY} NOT NULL, created_at BIGINT NOT NULL,
                        UNIQUE (entry_id, user_id, emoji))
                    """,
                    "CREATE INDEX reactions_in_order ON reactions (entry_id, created_at, id)",
                ]),
            .init(
                "locations",
                [
                    """
                    CREATE TABLE locations (
                        id {ID}, name TEXT NOT NULL, name_key {KEY} NOT NULL UNIQUE, is_default INTEGER NOT NULL,
                        created_by {KEY} REFERENCES users (id), created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX locations_in_order ON locations (is_default DESC, name_key)",
                    "CREATE INDEX locations_of_user ON locations (created_by)",
                    // The default locations date from the beginning of 2025.
                    """
                    INSERT INTO locations (name, name_key, is_default, created_at) VALUES
                        ('Airport', 'airport', 1, 1735689600000),
                        ('Friend''s House', 'friend''s house', 1, 1735689600000),
                        ('Gym', 'gym', 1, 1735689600000),
                        ('Home', 'home', 1, 1735689600000),
                        ('Hotel', 'hotel', 1, 1735689600000),
                        ('Office', 'office', 1, 1735689600000),
                        ('Public Restroom', 'public restroom', 1, 1735689600000),
                        ('Restaurant', 'restaurant', 1, 1735689600000)
                    """,
                ]),
            .init(
                "ends of memberships, entries and accounts",
                [
                    // The time of the newest entry, even if it was deleted, so that the times of a group's entries only
                    // grow.
                    "ALTER TABLE groups ADD COLUMN last_entry_at BIGINT",
                    "UPDATE groups SET last_entry_at = last_activity",
                    // Tokens of a user that were issued up to this time, in Unix seconds, belong to a deleted account, or to
                    // a user whom an operator has signed out.
                    """
                    CREATE TABLE deletions (
                        user_id {KEY} PRIMARY KEY, issued_until BIGINT NOT NULL, deleted_at BIGINT NOT NULL)
                    """,
                    // With these indexes the rows of a user or a group are found without scanning whole tables.
                    "CREATE INDEX entries_of_user ON entries (user_id, group_id)",
                    "CREATE INDEX reactions_of_user ON reactions (user_id, created_at, id)",
                    "CREATE INDEX invites_of_user ON invites (created_by)",
                    "CREATE INDEX invites_of_group ON invites (group_id)",
                    "CREATE INDEX groups_of_maker ON groups (created_by)",
                ] + RateLimits.tables),
            .init(
                "uses of invites, and entries of a user in order",
                [
                    // The invites by which users have joined groups. They are deleted when the member is removed.
                    """
                    CREATE TABLE invite_uses (
                        invite_id {KEY} NOT NULL REFERENCES invites (id) ON DELETE CASCADE,
                        user_id {KEY} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                        PRIMARY KEY (invite_id, user_id))
                    """,
                    "CREATE INDEX invites_used_by ON invite_uses (user_id)",
                    "CREATE INDEX invites_in_order ON invites (group_id, created_at, id)",
                    "DROP INDEX invites_of_group",
                    // An export reads entries in batches.
                    "CREATE INDEX entries_of_user_in_order ON entries (user_id, created_at, id)",
                ]),
            .init(
                "events with numbers",
                // Counts what sockets are told of the group, so that a node notices what it was not told.
                ["ALTER TABLE groups ADD COLUMN events BIGINT NOT NULL DEFAULT 0"]),
            FoldedNames.migration("locations that look alike", of: "name", in: "locations"),
            .init(
                "people whom operators find and suspend",
                PeopleSearch.indexes(of: "users", searched: ["username", "email", "first_name", "last_name"])
                    + Suspension.columns(of: "users")),
            .init("archives", Archives<Users>.table(of: "{KEY}")),
            .init("reports and blocks", Reports.Queue.tables(ids: "{KEY}") + Blocks.table),
            .init("who may register", Registration.tables),
            .init("reports of flagged words", Reports.Queue.flags),
        ])
}
