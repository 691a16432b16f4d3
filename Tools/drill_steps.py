"""What a drill does with a service, on any machine: users of every API, backups, restores, keys, and the wrong moves."""

import contextlib
import json
import os
import re
import sqlite3
import ssl
import subprocess
import sys
import threading
import time

import drill_moves
from drill_machine import Failure, Service, asked, call, expect, form, free_ports, picture, tail

PASSWORD = "Secret-123"


class Users:
    """Accounts of every API, with something in each that must be found again."""

    def __init__(self, machine, service, ports, serves_pictures=True):
        self.machine, self.service, self.ports = machine, service, ports
        self.serves_pictures = serves_pictures

    def url(self, api, path):
        return f"http://127.0.0.1:{self.ports[api]}{path}"

    def token(self, *arguments):
        return self.machine.concord(*arguments).check().output.strip()

    def register(self):
        self.messenger()
        self.deuce_diary()
        self.monica()
        self.gtsd()
        self.dunbar()

    def messenger(self):
        for name in ("alice", "bob"):
            asked(2, "POST", self.url("messenger", "/auth/register"),
                  {"username": name, "email": f"{name}@example.com", "password": PASSWORD})
        self.sign_in()
        chat, _ = asked(2, "POST", self.url("messenger", "/chats"), {"type": "direct", "member_ids": [2]}, self.bearer)
        self.chat = chat["id"]
        self.send("The first message")
        body, header = form({"file": ("notes.txt", "text/plain", "what was uploaded")})
        self.file = asked(2, "POST", self.url("messenger", "/files"), body, header | self.bearer)[0]["id"]

    def sign_in(self):
        body, _ = asked(2, "POST", self.url("messenger", "/auth/login"), {"username": "alice", "password": PASSWORD})
        self.bearer = {"Authorization": "Bearer " + body["access_token"]}

    def send(self, text):
        asked(2, "POST", self.url("messenger", f"/chats/{self.chat}/messages"), {"content": text, "type": "text"}, self.bearer)

    def deuce_diary(self):
        token = self.token("deuce-diary", "token", "create", "--user", "user_john", "--name", "John Doe")
        self.john = {"Authorization": "Bearer " + token}
        asked(200, "GET", self.url("deuce-diary", "/api/auth/user"), headers=self.john)
        asked(2, "POST", self.url("deuce-diary", "/api/groups"), {"name": "The drill's group"}, self.john)
        asked(2, "POST", self.url("deuce-diary", "/api/locations"), {"name": "Dr. X's clinic"}, self.john)
        if self.serves_pictures:
            self.upload_picture(2)

    def upload_picture(self, status):
        body, header = form({"profilePicture": ("me.png", "image/png", picture())})
        asked(status, "POST", self.url("deuce-diary", "/api/auth/user/profile-picture"), body, header | self.john)

    def monica(self):
        # The documents revoke the token with the number 1.
        self.token("monica", "token", "create", "--account", "spare")
        self.ann = {"Authorization": "Bearer " + self.token("monica", "token", "create", "--account", "ann")}
        asked(2, "POST", self.url("monica", "/api/contacts"), {
            "first_name": "John", "last_name": "Doe", "is_birthdate_known": False, "is_deceased": False,
            "is_deceased_date_known": False,
        }, self.ann)

    def gtsd(self):
        for name in ("anna", "drill"):
            asked(2, "POST", self.url("gtsd", "/auth/signup"),
                  {"email": f"{name}@example.com", "password": PASSWORD, "timezone": "Europe/Berlin"})

    def dunbar(self):
        body, headers = asked(2, "POST", self.url("dunbar", "/api/register"), {
            "username": "alice", "email": "alice@example.com", "password": PASSWORD, "displayName": "Alice"})
        cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        self.dunbar_id = body.get("user", body)["id"]
        if self.serves_pictures:
            body, header = form({"content": "A picture", "media": ("a.png", "image/png", picture())})
            asked(2, "POST", self.url("dunbar", "/api/posts"), body, header | cookie)

    def are_there(self):
        """Makes sure that users sign in and find what they had."""
        self.sign_in()
        messages, _ = asked(200, "GET", self.url("messenger", f"/chats/{self.chat}/messages"), headers=self.bearer)
        expect(json.dumps(messages).count('"content"') > 0, f"no messages: {messages}")
        status, text, _ = call("GET", self.url("messenger", f"/files/{self.file}/download"), headers=self.bearer)
        expect((status, text) == (200, "what was uploaded"), f"the file was answered {status}: {text}")
        groups, _ = asked(200, "GET", self.url("deuce-diary", "/api/groups"), headers=self.john)
        expect("The drill's group" in json.dumps(groups), f"the group is missing: {groups}")
        found, _ = asked(200, "GET", self.url("monica", "/api/contacts?query=doe"), headers=self.ann)
        expect(found["meta"]["total"] >= 1, f"the contact is missing: {found}")
        body, _ = asked(2, "POST", self.url("gtsd", "/auth/login"), {"email": "drill@example.com", "password": PASSWORD})
        body = body.get("data", body)
        asked(200, "GET", self.url("gtsd", "/v1/tasks/today"), headers={"Authorization": "Bearer " + body["accessToken"]})
        _, headers = asked(2, "POST", self.url("dunbar", "/api/login"), {"username": "alice", "password": PASSWORD})
        cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        posts, _ = asked(200, "GET", self.url("dunbar", f"/api/users/{self.dunbar_id}/posts"), headers=cookie)
        expect(not self.serves_pictures or "A picture" in json.dumps(posts), f"the post is missing: {posts}")


class Writer:
    """Sends messages one after another until it is stopped."""

    def __init__(self, users):
        self.users, self.count, self.failure = users, 0, None
        self.stops = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stops.is_set():
            try:
                self.users.send(f"Message {self.count + 1}")
            except Exception as error:
                self.failure = error
                return
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stops.set()
        self.thread.join()


class Drill:
    """A series of steps. A step that fails is reported, and the others go on where they can."""

    def __init__(self, machine):
        self.machine = machine
        self.begun = time.monotonic()
        self.failures = []
        self.left_out = []
        self.service = None

    def say(self, text):
        print(f"{time.monotonic() - self.begun:6.1f} s  {text}", flush=True)

    def leave_out(self, text):
        self.left_out.append(text)
        self.say("not run: " + text)

    @contextlib.contextmanager
    def step(self, name):
        self.say(name)
        try:
            yield
        except (Failure, OSError, subprocess.SubprocessError, KeyError, TypeError, ValueError, sqlite3.Error) as error:
            self.failures.append(name)
            kind = "" if isinstance(error, Failure) else type(error).__name__ + ": "
            self.say(f"FAILED: {name}\n    {kind}{error}")
            if self.service and self.service.log:
                print(f"    The service's log ends with:\n{tail(self.service.log, 4)}", flush=True)

    # Steps of both drills

    def owned(self, folder):
        """Makes sure that everything in a folder belongs to the service's user, and to no other user's eyes."""
        user, _ = self.machine.owner(self.service.unit["User"])
        top = self.machine.outside(folder)
        for file in [top, *top.rglob("*")]:
            status = file.lstat()
            expect(status.st_uid == user, f"{file} belongs to the user {status.st_uid} instead of {user}")
            expect(file.is_symlink() or file.is_socket() or status.st_mode & 0o077 == 0,
                   f"{file} has the mode {status.st_mode & 0o777:o}")

    def back_up_while_writing(self, users, place):
        """Makes a backup while messages are sent. It must be a state that there was."""
        machine = self.machine
        with Writer(users) as writer:
            limit = time.monotonic() + 20
            while writer.count < 20 and writer.failure is None and time.monotonic() < limit:
                time.sleep(0.02)
            before = writer.count
            made = machine.concord("backup", place)
            after = writer.count
        expect(writer.failure is None, f"a message was refused: {writer.failure}")
        made.check()
        name = re.search(r"^(\d{4}-\d\d-\d\dT\d{6}Z)", made.output, re.M)
        expect(name, f"no name of a backup:\n{tail(made.text)}")
        listed = machine.concord("backup", "list", place).check().output
        expect(name[1] in listed, f"{name[1]} is not in the list:\n{tail(listed)}")
        machine.concord("backup", "verify", place).check()
        file = machine.outside(f"{place}/backups/{name[1]}/databases/messenger.sqlite")
        with contextlib.closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as database:
            ids = [row[0] for row in database.execute("SELECT id FROM messages ORDER BY id")]
        expect(ids == list(range(1, len(ids) + 1)), f"messages are missing in the middle of {len(ids)}")
        expect(before + 1 <= len(ids) <= after + 2, f"{len(ids)} messages, of {before + 1} to {after + 1}")
        self.say(f"  {name[1]}: {len(ids)} messages, while the {before}th to {after}th were sent")
        return name[1]

    def restore_as_root(self, users, place):
        """Restores the newest backup into the service's folder, as root does while the service is stopped."""
        machine, service = self.machine, self.service
        service.stop()
        folder = machine.outside(service.data)
        folder.rename(folder.with_name("concord-before"))
        user, group = machine.owner(service.unit["User"])
        folder.mkdir(mode=0o700)
        if machine.is_root:
            os.chown(folder, user, group)
        machine.concord("restore", place).check()
        self.owned(service.data)
        service.start()
        users.are_there()

    def rotate_keys(self, users):
        machine = self.machine
        machine.concord("keys", "rotate", "messenger-tokens").check()
        asked(200, "GET", users.url("messenger", f"/chats/{users.chat}/messages"), headers=users.bearer)
        listed = machine.concord("keys", "list").check().output
        expect(re.search(r"^messenger-tokens\t.*former", listed, re.M), f"no former key:\n{tail(listed)}")
        machine.concord("keys", "drop-former", "messenger-tokens").check()
        asked(401, "GET", users.url("messenger", f"/chats/{users.chat}/messages"), headers=users.bearer)
        users.sign_in()

    def back_up_while_stopped(self, place):
        """A backup that root makes while the service is stopped must not keep the service from its next one."""
        machine, service = self.machine, self.service
        service.stop()
        try:
            machine.concord("backup", place).check()
            self.owned(place)
        finally:
            service.start()
        machine.concord("backup", place).check()

    def make_certificates(self, folder):
        """Makes certificates: `good` and `other`, signed by an authority of the drill (`ca`), and `old`, which has expired."""
        self.machine.outside(folder).mkdir(parents=True, exist_ok=True)
        script = f"""
            cd {folder}
            new() {{ openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=$1 -keyout $1.key "${{@:2}}"; }}
            new ca -x509 -days 90 -out ca.pem
            for name in good other renewed old; do
                new $name -out $name.csr
                printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\\n' >ext
                days=60; [ $name != old ] || days=-1
                openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days $days -extfile ext -out $name.pem
            done
            chmod 644 *.pem; chmod 600 *.key
        """
        self.machine.run(f"set -e\n{script}").check()

    def moves(self, rows, places):
        """Makes the wrong moves of the table, and prints what came of each."""
        machine = self.machine
        passed, failed = [], []
        for index, move in enumerate(rows):
            unit = f"{places['moves']}/{index}"
            fresh = machine.outside(unit)
            fresh.mkdir()
            fresh.chmod(0o777)
            own = places | {"new": unit + "/new", "copy": unit + "/copy", "free": free_ports(1)[0]}
            begun = time.monotonic()
            problem = drill_moves.try_move(machine, move, own)
            seconds = time.monotonic() - begun
            (failed if problem else passed).append(move.name)
            print(f"    {'FAIL' if problem else 'pass'}  {move.status:>3}  {seconds:5.1f} s  {move.name}", flush=True)
            if problem:
                print(tail(problem, 20), flush=True)
            expect(self.service.is_running, f"the service has ended:\n{tail(self.service.log)}")
        self.say(f"  {len(passed)} of {len(passed) + len(failed)} wrong moves were answered as the table says")
        if failed:
            raise Failure(f"wrong moves: {', '.join(failed)}")

    def places(self, place, name):
        """Makes what the wrong moves need, and returns the words for the table's braces."""
        machine, root = self.machine, self.machine.place("/srv/moves")
        machine.outside(root).mkdir(parents=True)
        machine.outside(root).chmod(0o755)
        machine.write(root + "/file", "a text that is no setting\n")
        machine.outside(root + "/empty").mkdir()
        machine.outside(root + "/closed").mkdir(mode=0o700)
        machine.outside(root + "/moves").mkdir()
        backups, spoilt = root + "/backups", root + "/spoilt"
        machine.run(["cp", "-a", place, backups]).check()
        machine.run(["cp", "-a", place, spoilt]).check()
        newest = sorted(machine.outside(spoilt).glob("backups/*/databases/messenger.sqlite"))[-1]
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 0xFF
        newest.write_bytes(content)
        self.make_certificates(root + "/tls")
        return {
            "data": machine.place(self.service.data), "port": self.ports["messenger"], "port2": self.ports["gtsd"],
            "backups": backups, "name": name, "spoilt": spoilt, "file": root + "/file", "none": root + "/none",
            "empty": root + "/empty", "closed": root + "/closed", "tls": root + "/tls", "moves": root + "/moves",
            "elsewhere": machine.place("/srv/elsewhere"), "full": root + "/full",
        }

    def end(self):
        if self.service:
            self.service.kill()
        for text in self.left_out:
            print("not run: " + text)
        if self.failures:
            print(f"{len(self.failures)} steps failed: {'; '.join(self.failures)}")
            return 1
        print("The package works as its documents say.")
        return 0
