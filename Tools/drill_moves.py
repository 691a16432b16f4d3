"""The wrong moves of operators, and what the program must say to each: one table for `Tools/check-package` and for the short
drill of `make test`.

A row is a name, the arguments of `concord` (a text, split as a shell does), the exit code, and a regular expression that the
output must match; the sentence has to say what is wrong and what to do. Words in braces are places and ports of the machine:

  {data}, {port}   the folder and Messenger's port of the service, which runs
  {new}            a path where nothing is
  {copy}           a folder with a copy of the service's data
  {backups}        a place with a backup; {name} is its name
  {file}, {none}   a file, and a path where there is none
  {tls}            a folder with certificates: good, other, old (expired)

More about a row:
  env      variables
  user     true: the command is run as the service's user
  set      the function that prepares {copy} or the machine, by its name (Preparations)
  log      a start that succeeds: the text is one of its log, and the exit code that of a stop
  short    the row is part of the short drill
  needs    what the row needs: "root", "postgresql", "machine" (a whole Debian, which the row may spoil and mends)
"""

import contextlib
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import threading

from drill_machine import Failure

SERVE = "serve messenger --data {new} --port messenger=0"
CONFIG = "config messenger --data {new} --port messenger=0"
GIVEN = "--data {data}"

MOVES = [
    # The command line
    ("a flag is misspelt", SERVE + " --prot messenger=1", 64, r"Unknown option '--prot'. Did you mean '--port'\?", dict(short=True)),
    ("a command is misspelt", "server", 64, r"There is no command 'server'. Did you mean 'serve'\?"),
    ("an API is misspelt", "serve mesenger", 64, r"There is no API 'mesenger'. Known: messenger, deuce-diary", dict(short=True)),
    ("an API is named twice", "serve messenger messenger", 64, r"Name each API once"),
    ("a port without a name", SERVE + " --port 9000", 64, r"'9000' is not NAME=VALUE with one of: messenger, "),
    ("a port of an unknown name", SERVE + " --port mesenger=1", 64, r"'mesenger=1' is not NAME=VALUE with one of: messenger, "),
    ("a port that is no number", SERVE + " --port messenger=abc", 64, r"abc is not a port for messenger: 0 to 65535\n"),
    ("a port that is too large", SERVE + " --port messenger=70000", 64, r"70000 is not a port for messenger: 0 to 65535\n"),
    ("a variable with no port", SERVE.replace(" --port messenger=0", ""), 64,
     r"abc is not a port for messenger: 0 to 65535 \(CONCORD_PORT_MESSENGER\)", dict(env=dict(CONCORD_PORT_MESSENGER="abc"), short=True)),
    ("an offset that is too large", SERVE + " --port-offset 60000", 64, r"--port-offset is a number from 0 to 50000"),
    ("an unknown level of the log", SERVE + " --log-level loud", 64, r"'loud' is not a log level"),
    ("a variable with an unknown level", SERVE, 64, r"CONCORD_LOG_LEVEL has an invalid value: loud", dict(env=dict(CONCORD_LOG_LEVEL="loud"))),
    ("no threads", SERVE + " --threads 0", 64, r"'0' is not a number of threads: 1 to 1024"),
    ("a negative delay", SERVE + " --drain-delay=-1", 64, r"--drain-delay must be 0 to 3600 seconds"),
    ("a public URL without a scheme", SERVE + " --public-url messenger=example.com", 64,
     r"example.com is not a public URL for messenger such as http://host:port or https://host"),
    ("a variable with such a URL", SERVE, 64, r"is not a public URL .* \(CONCORD_PUBLIC_URL_MESSENGER\)",
     dict(env=dict(CONCORD_PUBLIC_URL_MESSENGER="example.com"))),
    ("a proxy by its name", SERVE + " --trusted-proxy proxy.example.com", 64, r"proxy\.example\.com.*(address|10\.0\.0\.0/8)"),
    ("a quota of 10GB", SERVE + " --storage-quota 10GB", 64, r"10GB is not a size such as 500M or 10G\n"),
    ("a variable with such a quota", SERVE, 64, r"10GB is not a size such as 500M or 10G \(CONCORD_STORAGE_QUOTA\)",
     dict(env=dict(CONCORD_STORAGE_QUOTA="10GB"))),
    ("a mail server without a scheme", SERVE + " --smtp mail.example.com", 64, r"--smtp must be smtps://user:password@host:465"),
    ("backups at 3am", SERVE + " --backup-to {new} --backup-schedule 3am", 64, r"--backup-schedule must be like daily@03:00 or 6h, not '3am'"),
    ("no backups are kept", "backup {new} --keep 0 " + GIVEN, 64, r"--keep must be 1 or more"),
    ("an app that is none", SERVE + " --app-id messenger=ABCDE12345.com.example.app", 64, r"messenger has no links that an app can open"),
    ("an exception for an unknown API", SERVE + " --adopt-store mesenger", 64, r"There is no API 'mesenger'"),
    ("a database of another kind", SERVE + " --database mysql://root@localhost/concord", 64,
     r"--database must be 'sqlite' or 'postgres://…', not 'mysql://"),
    ("a Redis on SQLite", SERVE + " --bus redis://127.0.0.1:6379", 64, r"--bus redis://… cannot be used with --database sqlite"),
    ("a local bus on PostgreSQL", SERVE + " --bus local --database postgres://127.0.0.1:1/concord", 64, r"--bus local cannot be used with a PostgreSQL"),
    ("an audit since yesterday", "audit --since yesterday " + GIVEN, 64, r"--since must be like 2026-11-23, .* not 'yesterday'"),
    ("a key that there is not", "keys rotate messenger " + GIVEN, 64, r"There is no key 'messenger' that can be replaced. Known: messenger-tokens"),
    ("a move to nowhere", "move " + GIVEN, 64, r"Give --to or --objects-to"),
    ("a health check of no URL", "health 127.0.0.1:8080", 64, r"'127.0.0.1:8080' is no URL: http://host:port or https://host"),
    # Variables and files of them
    ("a misspelt variable, looked at", CONFIG, 1, r"CONCORD_PUBLIC_URL_MESENGER is not a setting: did you mean CONCORD_PUBLIC_URL_MESSENGER\?",
     dict(env=dict(CONCORD_PUBLIC_URL_MESENGER="https://m.example.com"))),
    ("a misspelt variable, served", SERVE, 0, r"CONCORD_SMPT is not a setting: did you mean CONCORD_SMTP\?",
     dict(env=dict(CONCORD_SMPT="x"), log=True, short=True)),
    ("a secret's file is missing", SERVE, 1, r"CONCORD_SMTP_FILE is \S+: there is no such file", dict(env=dict(CONCORD_SMTP_FILE="{none}"), short=True)),
    ("a secret is given twice", SERVE, 64, r"CONCORD_SMTP and CONCORD_SMTP_FILE are both set: give one of them",
     dict(env=dict(CONCORD_SMTP_FILE="{file}", CONCORD_SMTP="smtps://a:b@mail.example.com"))),
    ("no such file of settings", "config --env-file {none}", 64, r"There is no file \S+"),
    ("a file of settings with other text", "config --env-file {file}", 64, r", line 1: expected NAME=VALUE"),
    ("settings that only root may read", "config", 64, r"cannot be read \(Permission denied\): run the command as root, with sudo",
     dict(user="nobody", needs={"root", "machine"})),
    # Ports and addresses
    ("the API's port is taken", "serve messenger --data {new} --port messenger={port}", 1,
     r"Port \d+ on 127.0.0.1 is taken by another process, so messenger cannot listen there. Stop that process, or choose", dict(short=True)),
    ("two ports are taken", "serve messenger gtsd --data {new} --port messenger={port} --port gtsd={port2}", 1, r"so messenger .*\n(.*\n)*.*so gtsd cannot"),
    ("the operator's port is taken", SERVE + " --port operator={port}", 1, r"Port \d+ on 127.0.0.1 is taken .*so operator cannot listen"),
    ("one port for two APIs", "serve messenger gtsd --data {new} --port messenger={free} --port gtsd={free}", 1,
     r"messenger and gtsd have the same port \d+: set --port"),
    ("a port below 1024, without the privilege", "serve messenger --data {new} --port messenger=81", 1,
     r"messenger cannot listen on 127.0.0.1:81: Permission denied. Ports below 1024 need privileges", dict(user=True, needs={"root", "machine"})),
    ("an address of another machine", SERVE.replace("messenger=0", "messenger=8999") + " --host 192.0.2.1", 1,
     r"messenger cannot listen on 192.0.2.1:8999: .*the host must be an address of this machine"),
    ("every network, without a URL", CONFIG + " --host 0.0.0.0", 1, r"no public URL is set for messenger: .*Set --public-url NAME=URL"),
    ("every network, without TLS", CONFIG + " --host 0.0.0.0", 1, r"The server speaks HTTP on 0.0.0.0, so passwords and tokens can be read"),
    ("causes of errors for everybody", CONFIG + " --host 0.0.0.0 --development", 1, r"--development shows the causes of errors .*leave it out"),
    ("a proxy that is not trusted", CONFIG + " --public-url messenger=https://m.example.com", 1, r"that proxy is not trusted: .*Set --trusted-proxy"),
    ("health of nothing", "health http://127.0.0.1:1", 1, r"no answer: nothing listens there", dict(short=True)),
    ("health with TLS of a plain port", "health https://127.0.0.1:{port}", 1, r"no answer: it does not speak TLS"),
    # Folders
    ("the folder is in use", "serve messenger --data {data} --port messenger=0", 1,
     r"is in use by another concord \(process \d+\). Stop it, or choose another folder with --data", dict(short=True)),
    ("the folder is a file", "serve messenger --data {file} --port messenger=0", 1, r"The data folder \S+ cannot be (created|written to): Not a directory|The data folder \S+ cannot be created: File exists"),
    ("the folder is another user's", "serve messenger --data {closed} --port messenger=0", 1,
     r"The data folder \S+ cannot be written to: Permission denied. .*--data", dict(user=True, needs={"root"})),
    ("the folder is another user's, looked at", "config messenger --data {closed} --port messenger=0", 1,
     r"The data folder \S+ cannot be written to: \S+: Permission denied", dict(user=True, needs={"root"})),
    ("a command without a folder", "reports show dunbar 1 --data {new}", 1, r"is it the server's data folder \(--data\)\?"),
    ("the disk is full at the start", "serve messenger --data {full}/data --port messenger=0", 1, r"No space left|disk is full", dict(needs={"root", "machine"})),
    ("the disk is nearly full", "config messenger --data {full}/data --port messenger=0", 1, r"less than the reserve of \d+ MiB", dict(needs={"root", "machine"})),
    # Databases, files and keys
    ("a newer database", "serve messenger --data {copy} --port messenger=0", 1,
     r"this program knows up to \d+. It was used by a newer version of Concord: start that version, or restore", dict(set="newer")),
    ("the database is missing", "serve messenger --data {copy} --port messenger=0", 1,
     r"(belongs to another database|names none of the files).*Nothing was changed.*--adopt-store messenger", dict(set="lost")),
    ("the database is damaged", "serve messenger --data {copy} --port messenger=0", 1, r"The database \S+ is damaged.*put a backup in its place", dict(set="damaged")),
    ("a key's file is lost", "serve messenger --data {copy} --port messenger=0", 0, r"messenger-tokens", dict(set="keyless", log=True)),
    ("the database was moved away", "serve messenger --data {copy} --port messenger=0", 1,
     r"The database of messenger was moved to .*: give --database", dict(set="moved", short=True)),
    ("PostgreSQL does not run", SERVE + " --database postgres://concord@127.0.0.1:1/concord", 1, r"Connection refused"),
    ("PostgreSQL does not run, looked at", CONFIG + " --database postgres://concord@127.0.0.1:1/concord", 1, r"PostgreSQL does not answer: .*Connection refused"),
    ("no such database", SERVE + " --database postgres://concord@/nowhere?host=/run/postgresql", 1, r'database "nowhere" does not exist', dict(user=True, needs={"postgresql"})),
    ("a wrong password", SERVE + " --database postgres://concord:wrong@127.0.0.1/concord", 1, r"password authentication failed for user",
     dict(needs={"postgresql"})),
    ("another role than the user", "config messenger --data {new} --port messenger=0 --database postgres://concord@/concord?host=/run/postgresql", 1, r"Peer authentication failed for user",
     dict(needs={"postgresql"})),
    ("a move into a database in use", "move messenger --to postgres://concord@/concord?host=/run/postgresql --data {copy}", 1,
     r"A server uses the PostgreSQL database: stop every node first", dict(user=True, set="copied", needs={"postgresql"})),
    ("a move into a schema in use", "move messenger --to postgres://concord@/used?host=/run/postgresql --data {copy}", 1,
     r"Give another database, or move the schema away: ALTER SCHEMA messenger RENAME TO", dict(user=True, set="used", needs={"postgresql"})),
    ("other keys on one database", "serve messenger --data {new} --port messenger=0 --database postgres://concord@/concord?host=/run/postgresql", 1,
     r"is used with another key \S+ than this node's", dict(user=True, needs={"postgresql"})),
    ("a backup without pg_dump", "backup {new}/place --data {new}/data --database postgres://concord@/concord?host=/run/postgresql", 1, r"pg_dump was not found: install PostgreSQL's programs",
     dict(user=True, set="dumpless", needs={"postgresql", "machine"})),
    ("a move while the server runs", "move --to postgres://127.0.0.1:1/concord " + GIVEN, 1, r"is in use by another concord \(process \d+\). Stop it", dict(short=True)),
    ("a move to the same place", "move --to sqlite --data {copy}", 1, r"That is the place from which the data would be moved", dict(set="copied")),
    ("a move of nothing", "move gtsd --to postgres://127.0.0.1:1/concord --data {copy}", 1, r"(has no GTSD database to move|Connection refused)", dict(set="copied")),
    ("another database than the server's", "keys rotate messenger-tokens --database postgres://127.0.0.1:1/concord " + GIVEN, 1, r"Connection refused|leave the option out"),
    ("a bucket without credentials", SERVE + " --objects s3://bucket?endpoint=http://127.0.0.1:1", 1, r"AWS_ACCESS_KEY_ID"),
    ("a bucket that does not answer", CONFIG + " --objects s3://bucket?endpoint=http://127.0.0.1:1", 1, r"The bucket s3://bucket cannot be used: ",
     dict(env=dict(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b"))),
    # Backups
    ("a backup to a place that is not the service's", "backup {elsewhere} " + GIVEN, 1,
     r"Backups cannot be written to \S+ by the user (concord|nobody): Read-only file system.*ReadWritePaths=", dict(needs={"root"}, short=True)),
    ("a list of no place", "backup list {none}", 1, r"There is no folder \S+"),
    ("a restore into a folder in use", "restore {backups} --data {data}", 1, r"is not empty \(.*\), and nothing is written into it. Move it away, or choose",
     dict(short=True)),
    ("a restore of an unknown name", "restore {backups} --name 2020-01-01T000000Z --data {new}", 1, r"has no backup 2020-01-01T000000Z: see concord backup list"),
    ("a restore from an empty place", "restore {empty} --data {new}", 1, r"has no backups"),
    ("a restore from SQLite to PostgreSQL", "restore {backups} --data {new} --database postgres://127.0.0.1:1/concord", 1,
     r"The backup has SQLite's databases. Restore it without --database, and then move it"),
    ("a damaged backup, verified", "backup verify {spoilt}", 1, r"The backup \S+ is damaged"),
    ("a damaged backup, restored", "restore {spoilt} --data {new}", 1, r"is damaged|does not have its digest"),
    # Certificates
    ("a certificate without a key", SERVE + " --tls-cert {tls}/good.pem", 64, r"--tls-cert and --tls-key are needed together"),
    ("another certificate's key", SERVE + " --tls-cert {tls}/good.pem --tls-key {tls}/other.key", 1, r"cannot be used: .*"),
    ("no such key", SERVE + " --tls-cert {tls}/good.pem --tls-key {none}", 1, r"cannot be used: there is no file \S+", dict(short=True)),
    ("a key that only root may read", SERVE + " --tls-cert {tls}/good.pem --tls-key {tls}/good.key", 1, r"good.key cannot be read: Permission denied",
     dict(user=True, needs={"root"})),
    ("a text for a certificate", SERVE + " --tls-cert {file} --tls-key {tls}/good.key", 1, r"is not a certificate in PEM"),
    ("an expired certificate, looked at", CONFIG + " --tls-cert {tls}/old.pem --tls-key {tls}/old.key", 1, r"old.pem expired on \S+: clients refuse it"),
    ("an expired certificate, served", SERVE + " --tls-cert {tls}/old.pem --tls-key {tls}/old.key", 0, r"the certificate has expired: clients refuse it until",
     dict(log=True)),
    # Commands of the APIs
    ("nobody is promoted", "dunbar promote nobody " + GIVEN, 1, r"There is no user nobody", dict(short=True)),
    ("a file to import is missing", "monica import {none} --account alice " + GIVEN, 1, r"\S+ cannot be read: No such file or directory"),
    ("a text that is no vCard", "monica import {file} --account alice " + GIVEN, 1, r"Nothing was imported"),
    ("a token that there is not", "monica token revoke 999 " + GIVEN, 1, r"There is no token 999: see concord monica token list"),
    ("no former key", "keys drop-former gtsd-tokens " + GIVEN, 1, r"gtsd-tokens has no former key"),
    ("a check of another API", "check gtsd http://127.0.0.1:{port} --only signup", 2, r"."),
    ("a check of nothing", "check messenger http://127.0.0.1:1", 2, r"."),
    # Pictures
    ("a helper that there is not", "config dunbar --data {new} --port dunbar=0", 1,
     r"Uploads of pictures will be answered with 503: .*CONCORD_THUMBNAIL names no program", dict(env=dict(CONCORD_THUMBNAIL="{none}"))),
    ("libvips is missing", "config dunbar --data {new} --port dunbar=0", 1,
     r"Uploads of pictures will be answered with 503: .*does not find libvips .*libvips42", dict(set="blind", needs={"root", "machine"})),
]


class Move:
    def __init__(self, name, arguments, status, says, more=None):
        self.name, self.arguments, self.status, self.says = name, arguments, status, says
        more = dict(more or {})
        self.env, self.user = more.pop("env", {}), more.pop("user", None)
        self.set, self.log = more.pop("set", None), more.pop("log", False)
        self.short, self.needs = more.pop("short", False), more.pop("needs", set())
        assert not more, f"{name}: {more}"


def table(short=False):
    moves = [Move(*row) for row in MOVES]
    assert len({move.name for move in moves}) == len(moves), "two rows have one name"
    return [move for move in moves if move.short or not short]


class Preparations:
    """What a row needs beforehand. Each is a context, which mends the machine at its end."""

    def __init__(self, machine, places):
        self.machine, self.places = machine, places

    def _copy(self):
        copy = self.places["copy"]
        done = self.machine.concord("restore", self.places["backups"], "--data", copy)
        done.check()
        return self.machine.outside(copy)

    @contextlib.contextmanager
    def copied(self):
        folder = self._copy()
        user, group = self.machine.owner("concord")
        if self.machine.is_root:
            subprocess.run(["chown", "-R", f"{user}:{group}", str(folder)], check=True)
        yield

    @contextlib.contextmanager
    def used(self):
        self.machine.run(
            "setpriv --reuid=postgres --regid=postgres --init-groups createdb -O concord -E UTF8 -T template0 used &&"
            " setpriv --reuid=concord --regid=concord --init-groups psql -q used -c"
            " 'CREATE SCHEMA messenger; CREATE TABLE messenger.users (id int)'", cwd="/").check()
        with self.copied():
            yield

    @contextlib.contextmanager
    def newer(self):
        file = self._copy() / "messenger.sqlite"
        with contextlib.closing(sqlite3.connect(file)) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(schema_migrations)")]
            values = {"version": 999, "name": "from the future"}
            used = [name for name in columns if name in values]
            database.execute(
                f"INSERT INTO schema_migrations ({', '.join(used)}) VALUES ({', '.join('?' * len(used))})",
                [values[name] for name in used])
            database.commit()
        yield

    @contextlib.contextmanager
    def lost(self):
        folder = self._copy()
        for file in folder.glob("messenger.sqlite*"):
            file.unlink()
        yield

    @contextlib.contextmanager
    def damaged(self):
        folder = self._copy()
        file = folder / "messenger.sqlite"
        content = bytearray(file.read_bytes())
        content[4096:] = b"\xa5" * (len(content) - 4096)
        file.write_bytes(content)
        # After a stop that was not clean all of the database is looked at.
        for mark in folder.glob("*.sqlite-clean"):
            mark.unlink()
        yield

    @contextlib.contextmanager
    def keyless(self):
        (self._copy() / "keys/messenger-tokens").unlink()
        yield

    @contextlib.contextmanager
    def moved(self):
        folder = self._copy()
        (folder / "messenger.sqlite").rename(folder / "messenger.sqlite-moved-20261127t101500")
        (folder / "messenger.sqlite-moved-to").write_text("postgres://concord@db/chat on 2026-11-27")
        yield

    @contextlib.contextmanager
    def _without(self, *patterns):
        hidden = [file for pattern in patterns for file in self.machine.outside("/").glob(pattern)]
        for file in hidden:
            file.rename(file.with_name(file.name + ".hidden"))
        try:
            yield
        finally:
            for file in hidden:
                file.with_name(file.name + ".hidden").rename(file)

    @contextlib.contextmanager
    def blind(self):
        with self._without("usr/lib/*/libvips.so.42*"):
            yield

    @contextlib.contextmanager
    def dumpless(self):
        user, group = self.machine.owner("concord")
        folder = self.machine.outside(self.places["new"])
        (folder / "data").mkdir(parents=True)
        subprocess.run(["chown", "-R", f"{user}:{group}", str(folder)], check=True)
        with self._without("usr/lib/postgresql/*/bin/pg_dump", "usr/bin/pg_dump"):
            yield


def try_move(machine, move, places):
    """Makes a wrong move, and returns why it was not answered as the table says; None when it was."""
    prepared = getattr(Preparations(machine, places), move.set)() if move.set else contextlib.nullcontext()
    try:
        with prepared:
            status, text = answer(machine, move, places)
    except Failure as failure:
        return str(failure)
    if status != move.status:
        return f"ended with {status}, expected {move.status}: {text.strip()[-1500:]}"
    if not re.search(move.says, text):
        return f"does not say /{move.says}/: {text.strip()[-1500:]}"
    return None


def answer(machine, move, places):
    arguments = [word.format(**places) for word in shlex.split(move.arguments)]
    env = {name: value.format(**places) for name, value in move.env.items()}
    env = {"CONCORD_PORT_OPERATOR": "off"} | env
    user = "concord" if move.user is True else move.user
    if not move.log:
        done = machine.concord(*arguments, env=env, user=user, timeout=60)
        return done.status, done.text
    with machine.begin(
        [machine.program, *arguments], user, env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        watch = threading.Timer(60, process.kill)
        watch.start()
        try:
            text = ""
            for line in process.stdout:
                text += line.decode(errors="replace")
                if re.search(move.says, text) and "ready\n" in text:
                    break
            process.send_signal(signal.SIGTERM)
            text += process.stdout.read().decode(errors="replace")
        finally:
            watch.cancel()
    return process.returncode, text
