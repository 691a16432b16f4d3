-- Made by a server of commit b408bba9512aef1d0495e83eb2df91950c09be3e, through its API.
BEGIN TRANSACTION;
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, uuid TEXT NOT NULL, first_name TEXT NOT NULL,
    last_name TEXT NOT NULL, email TEXT NOT NULL,
    contact_count BIGINT NOT NULL DEFAULT 0, revision BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO "accounts" VALUES(1,'alice','cc388568-d5a6-4b79-acf2-f14cf1bc1677','alice','','',1,6,1795359925479,1795359925479);
CREATE TABLE activities (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    type_id BIGINT REFERENCES activity_types (id), summary TEXT NOT NULL, description TEXT,
    happened_at BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO "activities" VALUES(1,'0a49d22c-b0fc-4844-bf32-d7b64a03b059',1,NULL,'Lunch',NULL,20777,1795359925537,1795359925537);
CREATE TABLE activity_categories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO "activity_categories" VALUES(1,'67784cbe-4591-43d5-a721-5d6e7173aede',1,'Simple activities',1795359925479);
INSERT INTO "activity_categories" VALUES(2,'97670c19-d41f-4433-8174-79112be48d4e',1,'Sport',1795359925479);
INSERT INTO "activity_categories" VALUES(3,'54177f41-89ae-41d3-bb37-84d382954284',1,'Food',1795359925479);
INSERT INTO "activity_categories" VALUES(4,'92906dc7-06c0-4bac-ad66-26873ac264ef',1,'Cultural activities',1795359925479);
CREATE TABLE activity_contacts (
    activity_id BIGINT NOT NULL REFERENCES activities (id),
    contact_id BIGINT NOT NULL REFERENCES contacts (id), PRIMARY KEY (activity_id, contact_id));
INSERT INTO "activity_contacts" VALUES(1,1);
CREATE TABLE activity_types (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    category_id BIGINT NOT NULL REFERENCES activity_categories (id), name TEXT NOT NULL,
    location_type TEXT, created_at BIGINT NOT NULL);
INSERT INTO "activity_types" VALUES(1,'bb4cb913-1cff-4a81-bb3a-7e96ccdb98c0',1,1,'just hung out',NULL,1795359925479);
INSERT INTO "activity_types" VALUES(2,'c7e7659c-9cf7-46e8-a263-261b8cfab935',1,1,'watched a movie at home','my_place',1795359925479);
INSERT INTO "activity_types" VALUES(3,'f296ad99-c438-41ec-b521-0416ceaf9e3e',1,1,'talked at home','my_place',1795359925479);
INSERT INTO "activity_types" VALUES(4,'08fa968f-9d87-4aa2-b682-adeca10efdfe',1,2,'did sport together',NULL,1795359925479);
INSERT INTO "activity_types" VALUES(5,'fc619353-aab1-40f6-9eab-c49e3e1a6e75',1,3,'ate at their place','his_place',1795359925479);
INSERT INTO "activity_types" VALUES(6,'fb755019-5146-4bdc-b62e-303156a569ca',1,3,'ate at home','my_place',1795359925479);
INSERT INTO "activity_types" VALUES(7,'2319a91a-6b72-4b20-87fe-171b1a20032d',1,3,'went to a bar','outside',1795359925479);
INSERT INTO "activity_types" VALUES(8,'ae79649a-1597-4ac8-aeef-764cb3998c4f',1,3,'ate at a restaurant','outside',1795359925479);
INSERT INTO "activity_types" VALUES(9,'f0036ce8-a678-46df-aa17-05deea431e2d',1,3,'picnicked','outside',1795359925479);
INSERT INTO "activity_types" VALUES(10,'4f368658-0fd6-40a9-9954-bfe13df9cb9e',1,4,'went to a theater','outside',1795359925479);
INSERT INTO "activity_types" VALUES(11,'75c71398-4b7a-4c42-b138-62fdf07300e8',1,4,'went to a concert','outside',1795359925479);
INSERT INTO "activity_types" VALUES(12,'999cefbd-13b6-483c-98d4-5677f97f4201',1,4,'went to a play','outside',1795359925479);
INSERT INTO "activity_types" VALUES(13,'bd80b46f-65dc-46fc-8d1c-757cea03e6a4',1,4,'went to the museum','outside',1795359925479);
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, contact_id BIGINT NOT NULL REFERENCES contacts (id), name TEXT,
    street TEXT, city TEXT, province TEXT, postal_code TEXT, country TEXT,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
CREATE TABLE contact_field_types (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    kind TEXT NOT NULL, created_at BIGINT NOT NULL, UNIQUE (account_id, kind));
INSERT INTO "contact_field_types" VALUES(1,'075a17d7-bf57-4d2c-ad1e-323f5ae8e9f2',1,'email',1795359925479);
INSERT INTO "contact_field_types" VALUES(2,'820eb56e-7f9c-40bb-b69e-9b2d2bddb4f3',1,'phone',1795359925479);
INSERT INTO "contact_field_types" VALUES(3,'69710f29-323e-4faa-9beb-82794d838775',1,'website',1795359925479);
CREATE TABLE contact_fields (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, contact_id BIGINT NOT NULL REFERENCES contacts (id),
    type_id BIGINT NOT NULL REFERENCES contact_field_types (id), content TEXT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
CREATE TABLE contact_tags (
    contact_id BIGINT NOT NULL REFERENCES contacts (id), tag_id BIGINT NOT NULL REFERENCES tags (id),
    PRIMARY KEY (contact_id, tag_id));
INSERT INTO "contact_tags" VALUES(1,1);
INSERT INTO "contact_tags" VALUES(1,2);
CREATE TABLE contacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    first_name TEXT NOT NULL, middle_name TEXT, last_name TEXT, nickname TEXT, description TEXT,
    gender_id BIGINT REFERENCES genders (id), is_starred BIGINT NOT NULL,
    is_partial BIGINT NOT NULL, is_dead BIGINT NOT NULL, birth_day BIGINT, birth_kind BIGINT,
    death_day BIGINT, death_kind BIGINT, job TEXT, company TEXT, food TEXT, met_how TEXT,
    met_day BIGINT, met_kind BIGINT, met_through BIGINT REFERENCES contacts (id),
    block_id BIGINT REFERENCES search_blocks (id), card BLOB, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, UNIQUE (account_id, uuid));
INSERT INTO "contacts" VALUES(1,'e391115d-9181-4585-8eb6-62abc8c5e7c5',1,'Grace',NULL,'Hopper',NULL,NULL,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,NULL,1795359925507,1795359925528);
CREATE TABLE genders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account_id BIGINT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
    type TEXT NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO "genders" VALUES(1,1,'Man','M',1795359925479);
INSERT INTO "genders" VALUES(2,1,'Woman','F',1795359925479);
INSERT INTO "genders" VALUES(3,1,'Rather not say','O',1795359925479);
CREATE TABLE gifts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    contact_id BIGINT NOT NULL REFERENCES contacts (id), name TEXT NOT NULL, comment TEXT, url TEXT,
    cents BIGINT, status TEXT NOT NULL, day BIGINT,
    recipient_id BIGINT REFERENCES contacts (id), created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL);
INSERT INTO "gifts" VALUES(1,'a1f50b13-ba77-429a-90df-95eb319b797f',1,1,'Nanosecond',NULL,NULL,NULL,'idea',NULL,NULL,1795359925548,1795359925548);
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    contact_id BIGINT NOT NULL REFERENCES contacts (id), body TEXT NOT NULL, favorited_at BIGINT,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO "notes" VALUES(1,'0542fcd2-bb88-48b5-95d9-02c9606d4073',1,1,'Found the first bug',1795359925516,1795359925516,1795359925516);
CREATE TABLE once_only (
    scope TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (scope, key));
CREATE TABLE rate_windows (key TEXT PRIMARY KEY, used BIGINT NOT NULL, ends_at BIGINT NOT NULL);
CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO "schema_migrations" VALUES(1,'accounts','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(2,'contacts','2026-11-22 15:05:17');
INSERT INTO "schema_migrations" VALUES(3,'activities, notes, tasks and gifts','2026-11-22 15:05:17');
CREATE TABLE search_blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account_id BIGINT NOT NULL REFERENCES accounts (id), size BIGINT NOT NULL,
    lines TEXT NOT NULL);
INSERT INTO "search_blocks" VALUES(1,1,15,'1	grace hopper
');
CREATE TABLE tags (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account_id BIGINT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
    name_key TEXT NOT NULL, slug TEXT NOT NULL, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, UNIQUE (account_id, name_key));
INSERT INTO "tags" VALUES(1,1,'navy','navy','navy',1795359925528,1795359925528);
INSERT INTO "tags" VALUES(2,1,'cobol','cobol','cobol',1795359925528,1795359925528);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, account_id BIGINT NOT NULL REFERENCES accounts (id),
    contact_id BIGINT REFERENCES contacts (id), title TEXT NOT NULL, description TEXT,
    completed BIGINT NOT NULL, completed_at BIGINT, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL);
INSERT INTO "tasks" VALUES(1,'199d6c66-bd32-408d-9cf1-3ae23da7e1b5',1,1,'Write',NULL,0,NULL,1795359925521,1795359925521);
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account_id BIGINT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE, created_at BIGINT NOT NULL, last_used_at BIGINT);
INSERT INTO "tokens" VALUES(1,1,'command line',X'69E4FCAAAFE77DD3E52155974656DF44FFF8488CB22D0666642A0A6DC2B36B93',1795359925479,1795359900000);
CREATE INDEX tokens_of_account ON tokens (account_id, id);
CREATE INDEX genders_of_account ON genders (account_id, id);
CREATE INDEX activity_types_of_account ON activity_types (account_id, id);
CREATE INDEX once_only_age ON once_only (created_at);
CREATE INDEX rate_windows_age ON rate_windows (ends_at);
CREATE INDEX search_blocks_of_account ON search_blocks (account_id, id);
CREATE INDEX contacts_of_card ON contacts (account_id, card);
CREATE INDEX contacts_of_account ON contacts (account_id, id);
CREATE INDEX contacts_in_order ON contacts (account_id, is_partial, id);
CREATE INDEX contacts_by_change ON contacts (account_id, is_partial, updated_at, id);
CREATE INDEX contacts_met_through ON contacts (met_through);
CREATE INDEX fields_of_contact ON contact_fields (contact_id, id);
CREATE INDEX addresses_of_contact ON addresses (contact_id, id);
CREATE INDEX contacts_of_tag ON contact_tags (tag_id, contact_id);
CREATE INDEX activities_in_order ON activities (account_id, happened_at, id);
CREATE INDEX activities_of_contact ON activity_contacts (contact_id, activity_id);
CREATE INDEX notes_in_order ON notes (account_id, created_at, id);
CREATE INDEX notes_of_contact ON notes (contact_id, created_at, id);
CREATE INDEX tasks_in_order ON tasks (account_id, completed, created_at, id);
CREATE INDEX tasks_of_contact ON tasks (contact_id, completed, created_at, id);
CREATE INDEX gifts_in_order ON gifts (account_id, created_at, id);
CREATE INDEX gifts_of_contact ON gifts (contact_id, created_at, id);
CREATE INDEX gifts_of_recipient ON gifts (recipient_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('accounts',1);
INSERT INTO "sqlite_sequence" VALUES('genders',3);
INSERT INTO "sqlite_sequence" VALUES('contact_field_types',3);
INSERT INTO "sqlite_sequence" VALUES('activity_categories',4);
INSERT INTO "sqlite_sequence" VALUES('activity_types',13);
INSERT INTO "sqlite_sequence" VALUES('tokens',1);
INSERT INTO "sqlite_sequence" VALUES('contacts',1);
INSERT INTO "sqlite_sequence" VALUES('search_blocks',1);
INSERT INTO "sqlite_sequence" VALUES('notes',1);
INSERT INTO "sqlite_sequence" VALUES('tasks',1);
INSERT INTO "sqlite_sequence" VALUES('tags',2);
INSERT INTO "sqlite_sequence" VALUES('activities',1);
INSERT INTO "sqlite_sequence" VALUES('gifts',1);
COMMIT;
