import Backend
import Database

extension DunbarService {
    /// Every table of the API. Times are milliseconds since 1970.
    public static let schema = Schema(
        "dunbar",
        [
            .init(
                "users",
                [
                    // The keys are what names and addresses are compared by: in lower case. A photo is a file's name.
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
                ] + Sessions.table + OnceOnly.table + Attempts.tables),
            .init(
                "follows",
                [
                    // A request until it is accepted: so there is one of the two at most.
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
                    // The names of its files, in their order, with a space between.
                    """
                    CREATE TABLE posts (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id), content TEXT NOT NULL,
                        media TEXT NOT NULL, created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX posts_in_order ON posts (user_id, created_at, id)",
                    // Which of the stored files belong to posts, by their names.
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
                ] + Outbox<LetterJob>.table),
            .init(
                "sizes of files",
                [
                    // Whose a file is, and its size; null until it has been looked at.
                    "ALTER TABLE media ADD COLUMN user_id BIGINT NOT NULL DEFAULT 0",
                    "ALTER TABLE media ADD COLUMN size BIGINT",
                    "UPDATE media SET user_id = (SELECT p.user_id FROM posts p WHERE p.id = media.post_id)",
                    "CREATE INDEX storage_of_user ON media (user_id, size)",
                    "CREATE INDEX media_without_size ON media (name) WHERE size IS NULL",
                ]),
            FoldedNames.migration(adding: OnceOnly.subjects, to: "users"),
        ])
}
