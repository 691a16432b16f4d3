-- Made by a server of commit b408bba9512aef1d0495e83eb2df91950c09be3e, through its API.
BEGIN TRANSACTION;
CREATE TABLE attempts (key TEXT PRIMARY KEY, count INTEGER NOT NULL, until BIGINT NOT NULL);
INSERT INTO "attempts" VALUES('sign-in 2bb58a1920016a8b222379b2ba7d5229 127.0.0.1',0,1795359979324);
INSERT INTO "attempts" VALUES('sign-in 2bb58a1920016a8b222379b2ba7d5229',0,1795363519324);
INSERT INTO "attempts" VALUES('sign-in 38b59b5e438d3ffb6c9e891d3c15d690 127.0.0.1',0,1795359981508);
INSERT INTO "attempts" VALUES('sign-in 38b59b5e438d3ffb6c9e891d3c15d690',0,1795363521508);
INSERT INTO "attempts" VALUES('sign-in c4d51e43f5c976ca9f7fb0a959886561 127.0.0.1',0,1795359983552);
INSERT INTO "attempts" VALUES('sign-in c4d51e43f5c976ca9f7fb0a959886561',0,1795363523552);
CREATE TABLE blocks (
    blocker_id BIGINT NOT NULL REFERENCES users (id),
    blocked_id BIGINT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL, PRIMARY KEY (blocker_id, blocked_id));
INSERT INTO "blocks" VALUES(2,3,1795359924855);
CREATE TABLE chats (
    id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, name TEXT, owner_id BIGINT NOT NULL REFERENCES users (id),
    direct_low BIGINT, direct_high BIGINT,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, version BIGINT NOT NULL DEFAULT 0,
    UNIQUE (direct_low, direct_high));
INSERT INTO "chats" VALUES(1,'direct',NULL,1,1,2,1795359924778,1795359924829,0);
INSERT INTO "chats" VALUES(2,'group','Team',1,NULL,NULL,1795359924799,1795359924836,0);
CREATE TABLE familiar_addresses (
    account TEXT NOT NULL, address TEXT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, address));
INSERT INTO "familiar_addresses" VALUES('2bb58a1920016a8b222379b2ba7d5229','127.0.0.1',1797951919324);
INSERT INTO "familiar_addresses" VALUES('38b59b5e438d3ffb6c9e891d3c15d690','127.0.0.1',1797951921508);
INSERT INTO "familiar_addresses" VALUES('c4d51e43f5c976ca9f7fb0a959886561','127.0.0.1',1797951923552);
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id BIGINT NOT NULL REFERENCES users (id), filename TEXT NOT NULL,
    mime_type TEXT NOT NULL, object_key TEXT NOT NULL UNIQUE, size BIGINT NOT NULL,
    created_at BIGINT NOT NULL);
INSERT INTO "files" VALUES(1,1,'notes.txt','text/plain','654495d7-7eeb-408e-bd7a-b5091072ef76_notes.txt',12,1795359924744);
CREATE TABLE members (
    chat_id BIGINT NOT NULL REFERENCES chats (id), user_id BIGINT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL, joined_at BIGINT NOT NULL, last_read_id BIGINT, read_at BIGINT,
    PRIMARY KEY (chat_id, user_id));
INSERT INTO "members" VALUES(1,1,'owner',1795359924778,2,1795359924829);
INSERT INTO "members" VALUES(1,2,'member',1795359924778,NULL,NULL);
INSERT INTO "members" VALUES(2,1,'owner',1795359924799,3,1795359924844);
INSERT INTO "members" VALUES(2,2,'member',1795359924799,3,1795359924836);
INSERT INTO "members" VALUES(2,3,'member',1795359924799,NULL,NULL);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id BIGINT NOT NULL REFERENCES chats (id), sender_id BIGINT NOT NULL,
    content TEXT NOT NULL, type TEXT NOT NULL, file_id BIGINT REFERENCES files (id),
    created_at BIGINT NOT NULL, edited_at BIGINT);
INSERT INTO "messages" VALUES(1,1,1,'Hello, Bob!','text',NULL,1795359924817,NULL);
INSERT INTO "messages" VALUES(2,1,1,'a file','file',1,1795359924829,NULL);
INSERT INTO "messages" VALUES(3,2,2,'Hello, Team!','text',NULL,1795359924836,NULL);
CREATE TABLE once_only (
    scope TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key));
INSERT INTO "once_only" VALUES('user 1 POST /chats/1/messages','5d7b2a62-5f1e-4a8f-9a36-7d0f7f8c1a11',X'A17ABADB9E2BAC6EF320A5C8CD6C19BED1B48EB443FA9B03E39B32D2ABFB0FCC',201,X'7B226964223A312C22636861745F6964223A312C2273656E6465725F6964223A312C22636F6E74656E74223A2248656C6C6F2C20426F6221222C2274797065223A2274657874222C2266696C655F6964223A6E756C6C2C22637265617465645F6174223A22323032362D31312D32325431353A30353A32345A227D',1795359924817);
CREATE TABLE reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT, reporter_id BIGINT NOT NULL, user_id BIGINT, message_id BIGINT, chat_id BIGINT,
    sender_id BIGINT, content TEXT, file_id BIGINT, reason TEXT NOT NULL, details TEXT,
    created_at BIGINT NOT NULL);
INSERT INTO "reports" VALUES(1,3,NULL,3,2,2,'Hello, Team!',NULL,'spam',NULL,1795359924865);
CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO "schema_migrations" VALUES(1,'accounts','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(2,'chats','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(3,'messages and files','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(4,'memberships that change','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(5,'messages that change','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(6,'people who go, and are kept away','2026-11-22 15:05:17');
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
    refresh_hash BLOB NOT NULL UNIQUE, expires_at BIGINT NOT NULL);
INSERT INTO "sessions" VALUES('xOIKbObFd9labXf2R_Bbnw',1,X'89A45CF027715174D249BC4BD91EB7E9F31B73209AD9D094FE5745592FF30A62',1797951919324);
INSERT INTO "sessions" VALUES('haEy02zUCM76MOyiyEJ0eQ',2,X'1B603EE8B906B43D8DE73F45C7D37E28A098AD1421A42504642FE7BD702140E5',1797951921508);
INSERT INTO "sessions" VALUES('bat_9eYL6l5cRDLyMPixZw',3,X'AF34D5A6A1534EC0CE8BB740F514FE6552C191700ACFE7051BA15B0BBCB79E35',1797951923552);
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL, username_key TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL, email_key TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL, display_key TEXT NOT NULL,
    bio TEXT, avatar_file_id BIGINT, password TEXT NOT NULL, created_at BIGINT NOT NULL, deleted_at BIGINT);
INSERT INTO "users" VALUES(1,'alice','alice','alice@example.com','alice@example.com','alice','alice',NULL,NULL,'$scrypt$ln=14,r=8,p=5$fR06qTG4NgDVHzGIH9Lp3A$OF6C/8MHglQJWeWLjzXulMOGcSZgAM44jy72YDIO+P8',1795359918258,NULL);
INSERT INTO "users" VALUES(2,'bob','bob','bob@example.com','bob@example.com','bob','bob',NULL,NULL,'$scrypt$ln=14,r=8,p=5$vs2KG3LL4K+YKq1E1sIdLw$tK9x+xcYrQhLLKCJaFproyQ+PCj6mZO2MB5gNe3fVvg',1795359920407,NULL);
INSERT INTO "users" VALUES(3,'carol','carol','carol@example.com','carol@example.com','carol','carol',NULL,NULL,'$scrypt$ln=14,r=8,p=5$zi37HyIQ/rMsE/AK4KOewg$PsZGwHdp1k/EpO9eU4uHobuRZda4v1ZaC914Inredz4',1795359922506,NULL);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX attempts_age ON attempts (until);
CREATE INDEX familiar_addresses_age ON familiar_addresses (until);
CREATE INDEX once_only_age ON once_only (created_at);
CREATE INDEX chats_of_member ON members (user_id, chat_id);
CREATE INDEX storage_of_user ON files (owner_id, size);
CREATE INDEX messages_with_file ON messages (file_id, chat_id) WHERE file_id IS NOT NULL;
CREATE INDEX messages_of_chat ON messages (chat_id, id, sender_id);
CREATE INDEX blocks_against ON blocks (blocked_id, blocker_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('users',3);
INSERT INTO "sqlite_sequence" VALUES('files',1);
INSERT INTO "sqlite_sequence" VALUES('chats',2);
INSERT INTO "sqlite_sequence" VALUES('messages',3);
INSERT INTO "sqlite_sequence" VALUES('reports',1);
COMMIT;
