import Backend
import Database

extension GTSDService {
    /// The tables of the API. Times are milliseconds since 1970. Days are counted from 1970-01-01 in their user's zone.
    public static let schema = Schema(
        "gtsd",
        [
            .init(
                "accounts",
                [
                    // The version grows with every change that affects a cached answer.
                    """
                    CREATE TABLE users (
                        id {ID}, email {KEY} NOT NULL UNIQUE, password TEXT NOT NULL, name TEXT, timezone TEXT NOT NULL,
                        email_verified INTEGER NOT NULL DEFAULT 0, is_deactivated INTEGER NOT NULL DEFAULT 0,
                        version BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    // A session is a family of refresh tokens. Its row is deleted when the session ends.
                    """
                    CREATE TABLE sessions (
                        id {KEY} PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                        expires_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX sessions_of_user ON sessions (user_id)",
                    "CREATE INDEX sessions_age ON sessions (expires_at)",
                    // Tokens are stored as SHA-256. The parent is the token that was exchanged for this one.
                    """
                    CREATE TABLE refresh_tokens (
                        hash {BYTES} PRIMARY KEY,
                        session_id {KEY} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                        parent {BYTES}, expires_at BIGINT NOT NULL, used_at BIGINT)
                    """,
                    "CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id)",
                    "CREATE INDEX refresh_tokens_age ON refresh_tokens (expires_at)",
                    """
                    CREATE TABLE profiles (
                        user_id BIGINT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                        date_of_birth BIGINT NOT NULL, gender TEXT NOT NULL, goal TEXT NOT NULL,
                        weight DOUBLE PRECISION NOT NULL, target_weight DOUBLE PRECISION, height DOUBLE PRECISION NOT NULL,
                        activity TEXT NOT NULL, target_date BIGINT, dietary_preferences TEXT NOT NULL,
                        allergies TEXT NOT NULL, meals_per_day INTEGER NOT NULL)
                    """,
                ] + SignInThrottle.tables + RateLimits.tables + IdempotencyStore.table),
            .init(
                "tasks",
                [
                    // The local day and minute of the completion are stored, so that a change of the zone does not
                    // affect them.
                    """
                    CREATE TABLE tasks (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                        day BIGINT NOT NULL, slot INTEGER NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL,
                        description TEXT NOT NULL, completed_at BIGINT, completed_day BIGINT, completed_minute INTEGER,
                        UNIQUE (user_id, day, slot))
                    """,
                    """
                    CREATE TABLE evidence (
                        id {ID}, task_id BIGINT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
                        user_id BIGINT NOT NULL, type {KEY} NOT NULL, data TEXT NOT NULL, notes TEXT,
                        created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX evidence_of_task ON evidence (task_id, id)",
                    "CREATE INDEX evidence_of_user ON evidence (user_id, type)",
                    """
                    CREATE TABLE streaks (
                        id {ID}, user_id BIGINT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
                        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                    """,
                    """
                    CREATE TABLE credits (
                        user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, day BIGINT NOT NULL,
                        is_perfect INTEGER NOT NULL, PRIMARY KEY (user_id, day))
                    """,
                    """
                    CREATE TABLE badges (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, type {KEY} NOT NULL,
                        awarded_at BIGINT NOT NULL, is_announced INTEGER NOT NULL DEFAULT 0, UNIQUE (user_id, type))
                    """,
                ]),
            .init(
                "plans and photos",
                [
                    """
                    CREATE TABLE plans (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, week BIGINT NOT NULL,
                        bmr BIGINT NOT NULL, tdee BIGINT NOT NULL, target_calories BIGINT NOT NULL,
                        protein_grams BIGINT NOT NULL, carb_grams BIGINT NOT NULL, fat_grams BIGINT NOT NULL,
                        water BIGINT NOT NULL, content TEXT NOT NULL, created_at BIGINT NOT NULL,
                        UNIQUE (user_id, week))
                    """,
                    """
                    CREATE TABLE photos (
                        id {ID}, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                        file_key {KEY} NOT NULL UNIQUE, file_size BIGINT NOT NULL, mime_type TEXT NOT NULL,
                        width BIGINT, height BIGINT, taken_at BIGINT, task_id BIGINT, stage TEXT,
                        created_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX photos_in_order ON photos (user_id, created_at, id)",
                    // Weeks are given by their Mondays. A week counts even when its photo is deleted later.
                    """
                    CREATE TABLE photo_weeks (
                        user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, week BIGINT NOT NULL,
                        PRIMARY KEY (user_id, week))
                    """,
                    // Keys that can never be used for a photo again. `removed_at` is null while the store may still
                    // have the object.
                    "CREATE TABLE discarded_objects (file_key {KEY} PRIMARY KEY, removed_at BIGINT)",
                    "CREATE INDEX discarded_objects_age ON discarded_objects (removed_at)",
                ]),
            .init(
                "reservations",
                [
                    // Uploads that may come, or have come and were not confirmed.
                    """
                    CREATE TABLE uploads (
                        file_key {KEY} PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                        size BIGINT NOT NULL, url_expires_at BIGINT NOT NULL)
                    """,
                    "CREATE INDEX uploads_of_user ON uploads (user_id, size)",
                    "CREATE INDEX uploads_age ON uploads (url_expires_at, file_key)",
                    "CREATE INDEX storage_of_user ON photos (user_id, file_size)",
                ]),
            .init("answers that go with an account", IdempotencyStore.subjects),
            .init("times of evidence", ["ALTER TABLE evidence ADD COLUMN occurred_at BIGINT"]),
            .init("sessions that their users see", SessionNotes.columns),
            .init("e-mails about accounts", AccountEmails<Users>.tables()),
            .init(
                "days that a change of the zone leaves out",
                [
                    """
                    CREATE TABLE skipped_days (
                        user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, day BIGINT NOT NULL,
                        skipped_at BIGINT NOT NULL, PRIMARY KEY (user_id, day))
                    """
                ]),
            .init(
                "people whom operators find and suspend",
                PeopleSearch.indexes(of: "users", searched: ["email", "name"]) + Suspension.columns(of: "users") + [
                    // `is_deactivated` is no longer used.
                    """
                    UPDATE users SET suspended_at = updated_at, suspension_reason = '' WHERE is_deactivated = 1
                    """
                ]),
            .init("archives", Archives<Users>.table(of: "BIGINT")),
            .init(
                "who may register, and the terms that a person has accepted",
                Registration.tables + [Registration.termsColumn(of: "users")]),
        ])
}
