-- Made by a server of commit b408bba9512aef1d0495e83eb2df91950c09be3e, through its API.
BEGIN TRANSACTION;
CREATE TABLE days (
    user_id TEXT NOT NULL REFERENCES users (id), day BIGINT NOT NULL, logs BIGINT NOT NULL,
    PRIMARY KEY (user_id, day));
INSERT INTO "days" VALUES('user_alice',20779,1);
CREATE TABLE deletions (
    user_id TEXT PRIMARY KEY, issued_until BIGINT NOT NULL, deleted_at BIGINT NOT NULL);
CREATE TABLE entries (
    id TEXT PRIMARY KEY, log_id TEXT NOT NULL, user_id TEXT NOT NULL,
    group_id TEXT NOT NULL REFERENCES groups (id), location TEXT NOT NULL, thoughts TEXT NOT NULL,
    logged_at BIGINT NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO "entries" VALUES('35137bb2-8ef4-47ba-bdd8-1bd523a3d52e','e6b41510-dc7a-4c31-ac9c-8188ca78d58a','user_alice','dc84654b-f573-4351-9e78-f5fc57ab32ae','Office','Deep ones',1795359925110,1795359925110);
CREATE TABLE groups (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT,
    created_by TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    entry_count BIGINT NOT NULL DEFAULT 0, last_activity BIGINT, last_entry_at BIGINT);
INSERT INTO "groups" VALUES('12b35667-31c4-4e9c-8ebe-8777cc6cfd45','Solo Deuces','Your personal throne log','user_alice',1795359924962,1795359924962,0,NULL,NULL);
INSERT INTO "groups" VALUES('98479fc4-c8bd-42ef-865c-01ca52c913f2','Solo Deuces','Your personal throne log','user_bob',1795359925072,1795359925072,0,NULL,NULL);
INSERT INTO "groups" VALUES('dc84654b-f573-4351-9e78-f5fc57ab32ae','Friends','of the diary','user_alice',1795359925082,1795359925082,1,1795359925110,1795359925110);
CREATE TABLE invites (
    id TEXT PRIMARY KEY, group_id TEXT NOT NULL REFERENCES groups (id),
    created_by TEXT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO "invites" VALUES('8f3cb546-7e71-4867-b88b-d21e1c17f848','dc84654b-f573-4351-9e78-f5fc57ab32ae','user_alice',1795964725094,1795359925094);
CREATE TABLE locations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, name_key TEXT NOT NULL UNIQUE, is_default INTEGER NOT NULL,
    created_by TEXT REFERENCES users (id), created_at BIGINT NOT NULL);
INSERT INTO "locations" VALUES(1,'Airport','airport',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(2,'Friend''s House','friend''s house',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(3,'Gym','gym',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(4,'Home','home',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(5,'Hotel','hotel',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(6,'Office','office',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(7,'Public Restroom','public restroom',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(8,'Restaurant','restaurant',1,NULL,1735689600000);
INSERT INTO "locations" VALUES(9,'Library','library',0,'user_bob',1795359925128);
CREATE TABLE members (
    id INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL REFERENCES groups (id),
    user_id TEXT NOT NULL REFERENCES users (id), role TEXT NOT NULL, joined_at BIGINT NOT NULL,
    UNIQUE (group_id, user_id));
INSERT INTO "members" VALUES(1,'12b35667-31c4-4e9c-8ebe-8777cc6cfd45','user_alice','admin',1795359924962);
INSERT INTO "members" VALUES(2,'98479fc4-c8bd-42ef-865c-01ca52c913f2','user_bob','admin',1795359925072);
INSERT INTO "members" VALUES(3,'dc84654b-f573-4351-9e78-f5fc57ab32ae','user_alice','admin',1795359925082);
INSERT INTO "members" VALUES(4,'dc84654b-f573-4351-9e78-f5fc57ab32ae','user_bob','member',1795359925103);
CREATE TABLE once_only (
    scope TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key));
CREATE TABLE rate_windows (key TEXT PRIMARY KEY, used BIGINT NOT NULL, ends_at BIGINT NOT NULL);
CREATE TABLE reactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, entry_id TEXT NOT NULL REFERENCES entries (id),
    user_id TEXT NOT NULL REFERENCES users (id), emoji TEXT NOT NULL, created_at BIGINT NOT NULL,
    UNIQUE (entry_id, user_id, emoji));
INSERT INTO "reactions" VALUES(1,'35137bb2-8ef4-47ba-bdd8-1bd523a3d52e','user_bob','🔥',1795359925118);
CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO "schema_migrations" VALUES(1,'users and groups','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(2,'entries','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(3,'locations','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(4,'ends of memberships, entries and accounts','2026-11-22 15:05:17');
CREATE TABLE users (
    id TEXT PRIMARY KEY, email TEXT, first_name TEXT, last_name TEXT,
    username TEXT, username_key TEXT UNIQUE, picture TEXT UNIQUE,
    deuce_count BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO "users" VALUES('user_alice','alice@example.com','Alice','Doe',NULL,NULL,'user_alice-1795359925146.jpg',1,1795359924962,1795359925146);
INSERT INTO "users" VALUES('user_bob','bob@example.com','Bob','Doe',NULL,NULL,NULL,0,1795359925072,1795359925072);
CREATE INDEX groups_of_member ON members (user_id, group_id);
CREATE INDEX members_in_order ON members (group_id, joined_at, id);
CREATE INDEX invites_age ON invites (expires_at);
CREATE INDEX once_only_age ON once_only (created_at);
CREATE INDEX entries_in_order ON entries (group_id, created_at, id);
CREATE INDEX entries_of_log ON entries (log_id);
CREATE INDEX top_days ON days (user_id, logs, day);
CREATE INDEX reactions_in_order ON reactions (entry_id, created_at, id);
CREATE INDEX locations_in_order ON locations (is_default DESC, name_key);
CREATE INDEX locations_of_user ON locations (created_by);
CREATE INDEX entries_of_user ON entries (user_id, group_id);
CREATE INDEX reactions_of_user ON reactions (user_id, created_at, id);
CREATE INDEX invites_of_user ON invites (created_by);
CREATE INDEX invites_of_group ON invites (group_id);
CREATE INDEX groups_of_maker ON groups (created_by);
CREATE INDEX rate_windows_age ON rate_windows (ends_at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('locations',9);
INSERT INTO "sqlite_sequence" VALUES('members',4);
INSERT INTO "sqlite_sequence" VALUES('reactions',1);
COMMIT;
