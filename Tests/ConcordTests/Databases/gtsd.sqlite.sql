-- Made by a server of commit b408bba9512aef1d0495e83eb2df91950c09be3e, through its API.
BEGIN TRANSACTION;
CREATE TABLE attempts (key TEXT PRIMARY KEY, count INTEGER NOT NULL, until BIGINT NOT NULL);
CREATE TABLE badges (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, type TEXT NOT NULL,
    awarded_at BIGINT NOT NULL, is_announced INTEGER NOT NULL DEFAULT 0, UNIQUE (user_id, type));
CREATE TABLE credits (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, day BIGINT NOT NULL,
    is_perfect INTEGER NOT NULL, PRIMARY KEY (user_id, day));
CREATE TABLE discarded_objects (file_key TEXT PRIMARY KEY, removed_at BIGINT);
CREATE TABLE evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT, task_id BIGINT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, notes TEXT,
    created_at BIGINT NOT NULL);
INSERT INTO "evidence" VALUES(1,1,1,'text_log','{"text":"Did it"}',NULL,1795359927452);
CREATE TABLE familiar_addresses (
    account TEXT NOT NULL, address TEXT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, address));
CREATE TABLE once_only (
    scope TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key));
CREATE TABLE photo_weeks (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, week BIGINT NOT NULL,
    PRIMARY KEY (user_id, week));
INSERT INTO "photo_weeks" VALUES(1,20773);
CREATE TABLE photos (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    file_key TEXT NOT NULL UNIQUE, file_size BIGINT NOT NULL, mime_type TEXT NOT NULL,
    width BIGINT, height BIGINT, taken_at BIGINT, task_id BIGINT, stage TEXT,
    created_at BIGINT NOT NULL);
INSERT INTO "photos" VALUES(1,1,'progress-photos/1/355ea85b-db86-4086-a93d-4eebe750d205-a.png',2867,'image/png',40,40,NULL,NULL,'before',1795359927482);
CREATE TABLE plans (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE, week BIGINT NOT NULL,
    bmr BIGINT NOT NULL, tdee BIGINT NOT NULL, target_calories BIGINT NOT NULL,
    protein_grams BIGINT NOT NULL, carb_grams BIGINT NOT NULL, fat_grams BIGINT NOT NULL,
    water BIGINT NOT NULL, content TEXT NOT NULL, created_at BIGINT NOT NULL,
    UNIQUE (user_id, week));
INSERT INTO "plans" VALUES(1,1,20773,1522,2359,1859,176,149,62,2800,'{"sections":[{"heading":"Your Energy Needs","content":"At rest your body uses 1522 kcal a day (BMR). With your activity it is 2359 kcal (TDEE)."},{"heading":"Your Calorie Target","content":"Aim for 1859 kcal a day. That is 500 kcal less than you use, so that your body draws on its reserves."},{"heading":"Your Protein Target","content":"Eat 176 g of protein a day, to keep and build muscle."},{"heading":"Carbohydrates and Fat","content":"The rest of your energy comes from 149 g of carbohydrates and 62 g of fat."},{"heading":"Hydration","content":"Drink 2800 ml of water a day."},{"heading":"Your Timeline","content":"At a steady pace you reach your target weight in about 20 weeks."}],"title":"Why This Plan Works"}',1795359927416);
CREATE TABLE profiles (
    user_id BIGINT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    date_of_birth BIGINT NOT NULL, gender TEXT NOT NULL, goal TEXT NOT NULL,
    weight DOUBLE PRECISION NOT NULL, target_weight DOUBLE PRECISION, height DOUBLE PRECISION NOT NULL,
    activity TEXT NOT NULL, target_date BIGINT, dietary_preferences TEXT NOT NULL,
    allergies TEXT NOT NULL, meals_per_day INTEGER NOT NULL);
INSERT INTO "profiles" VALUES(1,7425,'female','lose_weight',80.0,70.0,170.0,'moderately_active',NULL,'["vegetarian"]','[]',3);
CREATE TABLE rate_windows (key TEXT PRIMARY KEY, used BIGINT NOT NULL, ends_at BIGINT NOT NULL);
CREATE TABLE refresh_tokens (
    hash BLOB PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    parent BLOB, expires_at BIGINT NOT NULL, used_at BIGINT);
INSERT INTO "refresh_tokens" VALUES(X'FB31CC3D01D56FE36BEDFD099031B58A09931B93D5EC38AC3BF52397AD6324C0','tNInfem7wKV4W96guBQaPQ',NULL,1795964725558,NULL);
CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO "schema_migrations" VALUES(1,'accounts','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(2,'tasks','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(3,'plans and photos','2026-11-22 15:05:17');
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL);
INSERT INTO "sessions" VALUES('tNInfem7wKV4W96guBQaPQ',1,1795964725558);
CREATE TABLE streaks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id BIGINT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO "streaks" VALUES(1,1,1795359925558,1795359925558);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    day BIGINT NOT NULL, slot INTEGER NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL,
    description TEXT NOT NULL, completed_at BIGINT, completed_day BIGINT, completed_minute INTEGER,
    UNIQUE (user_id, day, slot));
INSERT INTO "tasks" VALUES(1,1,20779,1,'cardio','Cardio: Active Recovery','30 minutes at a pace that suits you.',1795359927452,20779,965);
INSERT INTO "tasks" VALUES(2,1,20779,2,'cardio','Daily Walk','Walk for 20 minutes at a brisk pace.',NULL,NULL,NULL);
INSERT INTO "tasks" VALUES(3,1,20779,3,'nutrition','Hit Your Protein Target','Eat at least 176 g of protein today.',NULL,NULL,NULL);
INSERT INTO "tasks" VALUES(4,1,20779,4,'nutrition','Stay on Your Calorie Target','Aim for 1859 kcal today.',NULL,NULL,NULL);
INSERT INTO "tasks" VALUES(5,1,20779,5,'nutrition','Drink Your Water','Drink 2800 ml of water today.',NULL,NULL,NULL);
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, password TEXT NOT NULL, name TEXT, timezone TEXT NOT NULL,
    email_verified INTEGER NOT NULL DEFAULT 0, is_deactivated INTEGER NOT NULL DEFAULT 0,
    version BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO "users" VALUES(1,'alice@example.com','$scrypt$ln=14,r=8,p=5$RrMjsNcZA8hlzMR+QLIvdQ$pMggQEOG2YwqHIUj319VKPO1Vcd6UV3suy+gRCBeXfY','Alice','Europe/Berlin',0,0,5,1795359925558,1795359927401);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id);
CREATE INDEX refresh_tokens_age ON refresh_tokens (expires_at);
CREATE INDEX attempts_age ON attempts (until);
CREATE INDEX familiar_addresses_age ON familiar_addresses (until);
CREATE INDEX rate_windows_age ON rate_windows (ends_at);
CREATE INDEX once_only_age ON once_only (created_at);
CREATE INDEX evidence_of_task ON evidence (task_id, id);
CREATE INDEX evidence_of_user ON evidence (user_id, type);
CREATE INDEX photos_in_order ON photos (user_id, created_at, id);
CREATE INDEX discarded_objects_age ON discarded_objects (removed_at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('users',1);
INSERT INTO "sqlite_sequence" VALUES('streaks',1);
INSERT INTO "sqlite_sequence" VALUES('plans',1);
INSERT INTO "sqlite_sequence" VALUES('tasks',5);
INSERT INTO "sqlite_sequence" VALUES('evidence',1);
INSERT INTO "sqlite_sequence" VALUES('photos',1);
COMMIT;
