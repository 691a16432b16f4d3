-- Made by a server of commit b408bba9512aef1d0495e83eb2df91950c09be3e, through its API.
BEGIN TRANSACTION;
CREATE TABLE attempts (key TEXT PRIMARY KEY, count INTEGER NOT NULL, until BIGINT NOT NULL);
INSERT INTO "attempts" VALUES('sign-in 2bb58a1920016a8b222379b2ba7d5229 127.0.0.1',0,1795359988789);
INSERT INTO "attempts" VALUES('sign-in 2bb58a1920016a8b222379b2ba7d5229',0,1795363528789);
INSERT INTO "attempts" VALUES('sign-in 38b59b5e438d3ffb6c9e891d3c15d690 127.0.0.1',0,1795359991170);
INSERT INTO "attempts" VALUES('sign-in 38b59b5e438d3ffb6c9e891d3c15d690',0,1795363531170);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, blocker_id BIGINT NOT NULL REFERENCES users (id),
    blocked_id BIGINT NOT NULL REFERENCES users (id), created_at BIGINT NOT NULL,
    UNIQUE (blocker_id, blocked_id));
CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, post_id BIGINT NOT NULL REFERENCES posts (id),
    user_id BIGINT NOT NULL REFERENCES users (id), content TEXT NOT NULL,
    created_at BIGINT NOT NULL);
INSERT INTO "comments" VALUES(1,1,2,'Nice',1795359932444);
CREATE TABLE email_tokens (
    hash BLOB NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL);
INSERT INTO "email_tokens" VALUES(X'7C9F1DAA448132E462E2826AB9EF4ED978D8E8306BE5EF00E895CE011A92DB69',1,1795446327491);
INSERT INTO "email_tokens" VALUES(X'E33EE3C3AAE9FF17930C6A55346804360D8C4DB3E418A84AB2B027CB2C36F8FB',2,1795446330094);
CREATE TABLE familiar_addresses (
    account TEXT NOT NULL, address TEXT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, address));
INSERT INTO "familiar_addresses" VALUES('2bb58a1920016a8b222379b2ba7d5229','127.0.0.1',1797951928789);
INSERT INTO "familiar_addresses" VALUES('38b59b5e438d3ffb6c9e891d3c15d690','127.0.0.1',1797951931170);
CREATE TABLE follows (
    id INTEGER PRIMARY KEY AUTOINCREMENT, follower_id BIGINT NOT NULL REFERENCES users (id),
    target_id BIGINT NOT NULL REFERENCES users (id), is_accepted INTEGER NOT NULL,
    created_at BIGINT NOT NULL, UNIQUE (follower_id, target_id));
INSERT INTO "follows" VALUES(1,2,1,1,1795359932340);
CREATE TABLE media (
    name TEXT PRIMARY KEY, post_id BIGINT NOT NULL REFERENCES posts (id));
INSERT INTO "media" VALUES('OgmOMPpAcO5DSl-YdsjZHg.png',1);
CREATE TABLE once_only (
    scope TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key));
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sealed BLOB NOT NULL, created_at BIGINT NOT NULL, due_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL);
CREATE TABLE posts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id BIGINT NOT NULL REFERENCES users (id), content TEXT NOT NULL,
    media TEXT NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO "posts" VALUES(1,1,'First post','OgmOMPpAcO5DSl-YdsjZHg.png',1795359932362);
CREATE TABLE reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT, post_id BIGINT NOT NULL REFERENCES posts (id),
    user_id BIGINT NOT NULL REFERENCES users (id), reason TEXT NOT NULL, details TEXT,
    created_at BIGINT NOT NULL, UNIQUE (post_id, user_id));
INSERT INTO "reports" VALUES(1,1,2,'Hateful',NULL,1795359932450);
CREATE TABLE reset_tokens (
    hash BLOB NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL);
CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO "schema_migrations" VALUES(1,'users','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(2,'follows','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(3,'posts','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(4,'blocks, reports, resets and letters','2026-11-22 15:05:17');
CREATE TABLE sessions (
    hash BLOB NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, expires_at BIGINT NOT NULL);
INSERT INTO "sessions" VALUES(X'85A5BF74882792C0E2084DE73F7AC3461DC4C3ADCCFFA24717A67C8662B67A19',1,1797951927491);
INSERT INTO "sessions" VALUES(X'B3F7799BF433529EFA56978082D3D3730168625985439EE6EDF12CD21C4860E8',1,1797951928789);
INSERT INTO "sessions" VALUES(X'5A303D4FA1BDFE1E1F7D357BCFFFD3F05F07A935017F1C9E1C018C0BFA471F40',2,1797951930094);
INSERT INTO "sessions" VALUES(X'D997505DDC3D49E0CC9776995CCC56BBD91DEB58BD92F998ABB686384DF42C64',2,1797951931170);
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL, username_key TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL, email_key TEXT NOT NULL UNIQUE, password TEXT NOT NULL,
    display_name TEXT NOT NULL, display_key TEXT NOT NULL, bio TEXT, photo TEXT UNIQUE,
    is_private INTEGER NOT NULL DEFAULT 1, is_admin INTEGER NOT NULL DEFAULT 0,
    is_verified INTEGER NOT NULL DEFAULT 0, created_at BIGINT NOT NULL);
INSERT INTO "users" VALUES(1,'alice','alice','alice@example.com','alice@example.com','$scrypt$ln=14,r=8,p=5$b4RABD9ob951qEKlI+Cb2w$dHwelm4dQ9RlVXcOdfGzayC/A8w38jze4bI+ZZvo/gQ','Alice','alice',NULL,NULL,1,0,0,1795359927491);
INSERT INTO "users" VALUES(2,'bob','bob','bob@example.com','bob@example.com','$scrypt$ln=14,r=8,p=5$Lil3L60HtaqfR/gX3dxgcg$eBAKc9++792u39b4gmbDVyy0tvmpaeHThjd3p3aly4k','Bob','bob',NULL,NULL,1,0,0,1795359930094);
CREATE INDEX email_tokens_of_user ON email_tokens (user_id);
CREATE INDEX email_tokens_age ON email_tokens (expires_at);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX once_only_age ON once_only (created_at);
CREATE INDEX attempts_age ON attempts (until);
CREATE INDEX familiar_addresses_age ON familiar_addresses (until);
CREATE INDEX follows_of_follower ON follows (follower_id, is_accepted, created_at, id, target_id);
CREATE INDEX follows_of_target ON follows (target_id, is_accepted, created_at, id, follower_id);
CREATE INDEX posts_in_order ON posts (user_id, created_at, id);
CREATE INDEX media_of_post ON media (post_id);
CREATE INDEX comments_in_order ON comments (post_id, created_at, id);
CREATE INDEX comments_of_user ON comments (user_id);
CREATE INDEX blocks_of_blocked ON blocks (blocked_id);
CREATE INDEX blocks_in_order ON blocks (blocker_id, created_at, id);
CREATE INDEX reports_of_user ON reports (user_id);
CREATE INDEX reset_tokens_of_user ON reset_tokens (user_id);
CREATE INDEX reset_tokens_age ON reset_tokens (expires_at);
CREATE INDEX outbox_due ON outbox (due_at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('users',2);
INSERT INTO "sqlite_sequence" VALUES('outbox',2);
INSERT INTO "sqlite_sequence" VALUES('follows',1);
INSERT INTO "sqlite_sequence" VALUES('posts',1);
INSERT INTO "sqlite_sequence" VALUES('comments',1);
INSERT INTO "sqlite_sequence" VALUES('reports',1);
COMMIT;
