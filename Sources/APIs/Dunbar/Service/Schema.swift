import Backend
import Database
import DunbarAPI

extension DunbarService {
    /// The tables of the API. Times are milliseconds since 1970.
    public static let schema = Schema(
        "dunbar",
        [
            .init(
                "users",
                [
                    // Names and addresses are compared by their keys, which are in lower case. A photo is the name of a
                    // file.
                    """
                    CREATE TABLE users (
                        id {ID}, username TEXT NOT NULL, username_key {KEY} NOT NULL UNIQUE,
                        email TEXT NOT NULL, email_key {KEY} NOT NULL UNIQUE, password TEXT NOT NULL,
                        display_name TEXT NOT NULL, display_key {KEY} NOT NULL, bio TEXT, photo {KEY} UNIQUE,
                        is_private INTEGER NOT NULL DEFAULT 1, is_admin INTEGER NOT NULL DEFAULT 0,
                        is_verified INTEGER NOT NULL DEFAULT 0, created_at BIGINT NOT NULL)
                    """,
                    """
                    CREATE TABLE email_tokens (
                        hash {BYTES} NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
                        expires_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX email_tokens_of_user ON email_tokens (user_id)",
                    "CREATE INDEX email_tokens_age ON email_tokens (expires_at)",
                ] + CookieSessions<Dunbar.User.ID>.table + IdempotencyStore.table + SignInThrottle.tables),
            .init(
                "follows",
                [
                    // A row is a request until it is accepted, so there is at most a request or a follow between two
                    // users.
                    """
                    CREATE TABLE follows (
                        id {ID}, follower_id BIGINT NOT NULL REFERENCES users (id),
                        target_id BIGINT NOT NULL REFERENCES users (id), is_accepted INTEGER NOT NULL,
                        created_at BIGINT NOT NULL, UNIQUE (follower_id, target_id))
                    """,
                    "CREATE INDEX follows_of_follower ON follows (follower_id, is_accepted, created_at, id, target_id)",
                    "CREATE INDEX follows_of_target ON follows (target_id, is_accepted, created_at, id, follower_id)",
                ]),
            .init(
                "posts",
                [
                    // `media` has the names of the post's files in their order, separated by spaces.
                    """
                    CREATE TABLE posts (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id), content TEXT NOT NULL,
                        media TEXT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX posts_in_order ON posts (user_id, created_at, id)",
                    // The stored files that belong to posts, by their names.
                    """
                    CREATE TABLE media (
                        name {KEY} PRIMARY KEY, post_id BIGINT NOT NULL REFERENCES posts (id))
                    """,
                    "CREATE INDEX media_of_post ON media (post_id)",
                    """
                    CREATE TABLE comments (
                        id {ID}, post_id BIGINT NOT NULL REFERENCES posts (id),
                        user_id BIGINT NOT NULL REFERENCES users (id), content TEXT NOT NULL,
                        created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX comments_in_order ON comments (post_id, created_at, id)",
                    "CREATE INDEX comments_of_user ON comments (user_id)",
                ]),
            .init(
                "blocks, reports, resets and letters",
                [
                    """
                    CREATE TABLE blocks (
                        id {ID}, blocker_id BIGINT NOT NULL REFERENCES users (id),
                        blocked_id BIGINT NOT NULL REFERENCES users (id), created_at BIGINT NOT NULL,
                        UNIQUE (blocker_id, blocked_id))
                    """,
                    "CREATE INDEX blocks_of_blocked ON blocks (blocked_id)",
                    "CREATE INDEX blocks_in_order ON blocks (blocker_id, created_at, id)",
                    """
                    CREATE TABLE reports (
                        id {ID}, post_id BIGINT NOT NULL REFERENCES posts (id),
                        user_id BIGINT NOT NULL REFERENCES users (id), reason TEXT NOT NULL, details TEXT,
                        created_at BIGINT NOT NULL, UNIQUE (post_id, user_id))
                    """,
                    "CREATE INDEX reports_of_user ON reports (user_id)",
                    """
                    CREATE TABLE reset_tokens (
                        hash {BYTES} NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
                        expires_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX reset_tokens_of_user ON reset_tokens (user_id)",
                    "CREATE INDEX reset_tokens_age ON reset_tokens (expires_at)",
                ] + JobQueue<AccountEmail>.table),
            .init(
                "sizes of files",
                [
                    // The owner of a file, and its size; the size is null until it has been determined.
                    "ALTER TABLE media ADD COLUMN user_id BIGINT NOT NULL DEFAULT 0",
                    "ALTER TABLE media ADD COLUMN size BIGINT",
                    "UPDATE media SET user_id = (SELECT p.user_id FROM posts p WHERE p.id = media.post_id)",
                    "CREATE INDEX storage_of_user ON media (user_id, size)",
                    "CREATE INDEX media_without_size ON media (name) WHERE size IS NULL",
                ]),
            .init(
                "signed URLs",
                [
                    // The time until which a file's URLs are valid without a signature; null until that is known.
                    "CREATE TABLE unsigned_files (name {KEY} PRIMARY KEY, ends_at BIGINT)",
                    "INSERT INTO unsigned_files (name) SELECT name FROM media",
                    "INSERT INTO unsigned_files (name) SELECT photo FROM users WHERE photo IS NOT NULL",
                ]),
            .init(
                "places in lists and rejections",
                [
                    // The former places of deleted follows, requests and blocks, so that a list that is read in pages
                    // continues behind them. A pair of users has one row, with numbers alone.
                    """
                    CREATE TABLE former_rows (
                        kind INTEGER NOT NULL, owner_id BIGINT NOT NULL, other_id BIGINT NOT NULL,
                        row_id BIGINT NOT NULL, created_at BIGINT NOT NULL, ended_at BIGINT NOT NULL,
                        PRIMARY KEY (kind, owner_id, other_id))
                    """,
                    "CREATE INDEX former_rows_by_other ON former_rows (kind, other_id, owner_id)",
                    "CREATE INDEX former_rows_by_row ON former_rows (kind, row_id)",
                    "CREATE INDEX former_rows_age ON former_rows (ended_at)",
                    """
                    CREATE TABLE rejections (
                        follower_id BIGINT NOT NULL REFERENCES users (id),
                        target_id BIGINT NOT NULL REFERENCES users (id), used INTEGER NOT NULL,
                        ends_at BIGINT NOT NULL, PRIMARY KEY (follower_id, target_id))
                    """,
                    "CREATE INDEX rejections_of_target ON rejections (target_id)",
                    "CREATE INDEX rejections_age ON rejections (ends_at)",
                ]),
            .init(
                "reports that outlast posts",
                [
                    // A report has a copy of the post. A user who has deleted their account is null. `ends_at` is set
                    // once the post or one of the two accounts is deleted.
                    """
                    CREATE TABLE lasting_reports (
                        id {ID}, post_id BIGINT NOT NULL, author_id BIGINT, reporter_id BIGINT, reason TEXT NOT NULL,
                        details TEXT, content TEXT NOT NULL, media_count INTEGER NOT NULL, created_at BIGINT NOT NULL,
                        ends_at BIGINT, UNIQUE (post_id, reporter_id))
                    """,
                    """
                    INSERT INTO lasting_reports (
                        post_id, author_id, reporter_id, reason, details, content, media_count, created_at)
                    SELECT p.id, p.user_id, r.user_id, r.reason, r.details, p.content,
                        (SELECT COUNT(*) FROM media m WHERE m.post_id = p.id), r.created_at
                    FROM reports r JOIN posts p ON p.id = r.post_id ORDER BY r.id
                    """,
                    "DROP TABLE reports",
                    "ALTER TABLE lasting_reports RENAME TO reports",
                    "CREATE INDEX reports_of_author ON reports (author_id)",
                    "CREATE INDEX reports_of_reporter ON reports (reporter_id)",
                    "CREATE INDEX reports_age ON reports (ends_at)",
                ]),
            FoldedNames.migration(adding: IdempotencyStore.subjects, to: "users"),
            .init("people found by parts of their names", UserSearch.migration),
            .init("sessions that their users see", SessionNotes.columns),
            .init("addresses that are still to be confirmed", AccountEmails<Users>.changes),
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
