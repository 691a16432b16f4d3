"""A small Messenger server: what its published contract says in words or by example, and nothing else.

It shares no code with Concord's server, so that what both have in common comes from the document. It keeps everything in
memory, and prints "listening on PORT" once it accepts connections.

Usage: messenger.py [MISTAKE]
A mistake is a promise of the contract that the server then breaks; `messenger.py --mistakes` lists them, each with the
clauses of the contract that are broken by it.
"""

import asyncio
import email.parser
import email.policy
import http
import json
import re
import secrets
import sys
import time
import urllib.parse

from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

MISTAKES = {
    "registers with 200": ["POST /auth/register"],
    "takes usernames of two characters": ["POST /auth/register"],
    "refuses a taken name with 400": ["POST /auth/register"],
    "words a taken name otherwise": ["POST /auth/register"],
    "refuses a taken name with a message in place of an error": ["POST /auth/register"],
    "signs in with any password": ["POST /auth/login"],
    "leaves out the lifetime of tokens": ["POST /auth/login"],
    "renews with any refresh token": ["POST /auth/refresh"],
    "renews with another user's token": ["POST /auth/refresh"],
    "leaves out the e-mail address": ["GET /me"],
    "writes times with a fraction": ["GET /me"],
    "shows e-mail addresses to others": ["GET /users/{id}"],
    "leaves out a bio that is null": ["GET /users/{id}"],
    "finds whole usernames only": ["GET /users/search"],
    "makes chats with 200": ["POST /chats"],
    "answers the type of a chat": ["POST /chats"],
    "lists chats of others": ["GET /chats"],
    "shows the oldest message": ["GET /chats"],
    "makes everybody a member": ["GET /chats/{id}"],
    "shows chats to strangers": ["GET /chats/{id}"],
    "answers message_type to a send": ["POST /chats/{id}/messages"],
    "takes messages from strangers": ["POST /chats/{id}/messages"],
    "has the oldest message first": ["GET /chats/{id}/messages"],
    "shows the message before which it asks": ["GET /chats/{id}/messages"],
    "ignores the limit": ["GET /chats/{id}/messages"],
    "writes ids of files as text": ["POST /files"],
    "forgets the type of files": ["POST /files"],
    "sends files in place of a redirect": ["GET /files/{id}/download"],
    "lets everybody download": ["GET /files/{id}/download"],
    "lists chats without a token": ["Authentication"],
    "answers a missing token with 403": ["Authentication"],
    "takes any token": ["/ws handshake"],
    "keeps a socket without a token open": ["/ws handshake"],
    "pushes nothing": ["/ws messages"],
    "pushes in the wrong order": ["/ws messages"],
    "does not answer pings": ["/ws keepalive"],
}

PUBLIC = {("POST", "/auth/register"), ("POST", "/auth/login"), ("POST", "/auth/refresh")}


class Refusal(Exception):
    def __init__(self, status, message):
        self.status, self.message = status, message


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Messenger:
    def __init__(self, mistake=None):
        self.mistake = mistake
        self.users, self.chats, self.messages, self.files = {}, {}, {}, {}
        self.access, self.refresh, self.links = {}, {}, {}
        self.sockets = []

    def has(self, mistake):
        assert mistake in MISTAKES, mistake
        return self.mistake == mistake

    # Operations: each returns a status and a body.

    def register(self, body):
        name, address = body["username"], body["email"]
        shortest = 2 if self.has("takes usernames of two characters") else 3
        if not shortest <= len(name) <= 32:
            raise Refusal(400, "Username must be 3–32 characters")
        if any(name == user["username"] or address == user["email"] for user in self.users.values()):
            status = 400 if self.has("refuses a taken name with 400") else 409
            raise Refusal(status, "Taken" if self.has("words a taken name otherwise") else "Username or email already taken")
        user = {"id": len(self.users) + 1, "username": name, "email": address, "display_name": name, "bio": None,
                "created_at": now(), "password": body["password"]}
        self.users[user["id"]] = user
        return 200 if self.has("registers with 200") else 201, {"id": user["id"], "username": name}

    def login(self, body):
        user = next((user for user in self.users.values() if user["username"] == body["username"]), None)
        if not user or user["password"] != body["password"] and not self.has("signs in with any password"):
            raise Refusal(401, "Wrong username or password")
        refresh = secrets.token_hex(16)
        self.refresh[refresh] = user["id"]
        answer = {**self.renewed(user["id"]), "refresh_token": refresh, "user_id": user["id"]}
        if self.has("leaves out the lifetime of tokens"):
            del answer["expires_in"]
        return 200, answer

    def renewed(self, user):
        token = secrets.token_hex(16)
        self.access[token] = user
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3600}

    def renew(self, body):
        user = self.refresh.get(body["refresh_token"])
        if self.has("renews with any refresh token"):
            user = user or 1
        if user is None:
            raise Refusal(401, "Unknown refresh token")
        if self.has("renews with another user's token"):
            user = user - 1 or user + 1
        return 200, self.renewed(user)

    def me(self, user):
        names = ["id", "username", "email", "display_name", "bio", "created_at"]
        if self.has("leaves out the e-mail address"):
            names.remove("email")
        answer = {name: self.users[user][name] for name in names}
        if self.has("writes times with a fraction"):
            answer["created_at"] = answer["created_at"].replace("Z", ".000Z")
        return 200, answer

    def user(self, user, other):
        if other not in self.users:
            raise Refusal(404, "No such user")
        names = ["id", "username", "display_name", "bio"]
        if self.has("shows e-mail addresses to others"):
            names.append("email")
        if self.has("leaves out a bio that is null"):
            names.remove("bio")
        return 200, {name: self.users[other][name] for name in names}

    def search(self, text):
        whole = self.has("finds whole usernames only")
        found = [user for user in self.users.values()
                 if (text == user["username"] if whole else text.lower() in user["username"].lower())]
        return 200, [{name: user[name] for name in ["id", "username", "display_name"]} for user in found]

    def add_chat(self, user, body):
        members = [user] + [member for member in body["member_ids"] if member != user]
        if any(member not in self.users for member in members):
            raise Refusal(400, "No such member")
        id = len(self.chats) + 1
        self.chats[id] = {"id": id, "type": body["type"], "name": body.get("name"), "owner_id": user,
                          "created_at": now(), "members": members}
        self.messages[id] = []
        kind = body["type"] if self.has("answers the type of a chat") else "created"
        return 200 if self.has("makes chats with 200") else 201, {"id": id, "type": kind}

    def chat(self, user, id):
        chat = self.chats.get(id)
        if not chat or user not in chat["members"]:
            raise Refusal(403, "Not a member of this chat")
        return chat

    def chat_list(self, user):
        rows = []
        for chat in self.chats.values():
            if user not in chat["members"] and not self.has("lists chats of others"):
                continue
            messages = self.messages[chat["id"]]
            shown = messages[0 if self.has("shows the oldest message") else -1] if messages else None
            rows.append({"id": chat["id"], "type": chat["type"], "name": chat["name"],
                         "updated_at": shown["created_at"] if shown else chat["created_at"],
                         "last_message": shown["content"] if shown else None})
        return 200, rows

    def chat_detail(self, user, id):
        if self.has("shows chats to strangers") and id in self.chats:
            user = self.chats[id]["owner_id"]
        chat = self.chat(user, id)
        role = "member" if self.has("makes everybody a member") else "owner"
        members = [{"id": member, "username": self.users[member]["username"],
                    "display_name": self.users[member]["display_name"],
                    "role": role if member == chat["owner_id"] else "member"} for member in chat["members"]]
        return 200, {**chat, "members": members}

    def send(self, user, id, body):
        if not (self.has("takes messages from strangers") and id in self.chats):
            self.chat(user, id)
        message = {"id": sum(map(len, self.messages.values())) + 1, "chat_id": id, "sender_id": user,
                   "content": body["content"], "type": body["type"], "created_at": now()}
        if "file_id" in body:
            message["file_id"] = body["file_id"]
        self.messages[id].append(message)
        self.push(message)
        if self.has("answers message_type to a send"):
            return 201, renamed(message)
        return 201, message

    def history(self, user, id, query):
        self.chat(user, id)
        found = [renamed(message) for message in reversed(self.messages[id])]
        if "before" in query:
            last = int(query["before"]) + (1 if self.has("shows the message before which it asks") else 0)
            found = [message for message in found if message["id"] < last]
        if not self.has("ignores the limit"):
            found = found[:int(query.get("limit", 50))]
        return 200, found[::-1] if self.has("has the oldest message first") else found

    def upload(self, user, content_type, body):
        head = f"Content-Type: {content_type}\r\n\r\n".encode()
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        part = next(part for part in form.iter_parts() if part.get_param("name", header="Content-Disposition") == "file")
        id = len(self.files) + 1
        self.files[id] = {"owner": user, "type": part.get_content_type(), "content": part.get_payload(decode=True)}
        kind = "application/octet-stream" if self.has("forgets the type of files") else part.get_content_type()
        return 201, {"id": str(id) if self.has("writes ids of files as text") else id,
                     "filename": part.get_filename(), "mime_type": kind,
                     "object_key": f"{secrets.token_hex(16)}_{part.get_filename()}"}

    def download(self, user, id):
        file = self.files.get(id)
        if not file or file["owner"] != user and not self.has("lets everybody download"):
            raise Refusal(403, "No such file")
        if self.has("sends files in place of a redirect"):
            return 200, file["content"]
        link = secrets.token_hex(16)
        self.links[link] = file
        return 302, f"/objects/{link}"

    # Requests and sockets

    def answer(self, method, target, headers, body):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        if method == "GET" and path.startswith("/objects/"):
            file = self.links.get(path.removeprefix("/objects/"))
            return (200, file["content"]) if file else (404, {"error": "No such file"})
        user = self.access.get(headers.get("authorization", "").removeprefix("Bearer "))
        if self.has("lists chats without a token") and (method, path) == ("GET", "/chats"):
            user = user or 1
        if user is None and (method, path) not in PUBLIC:
            raise Refusal(403 if self.has("answers a missing token with 403") else 401, "Not signed in")
        if (method, path) == ("POST", "/files"):
            return self.upload(user, headers["content-type"], body)
        content = json.loads(body) if body else {}
        for (verb, pattern, run) in [
            ("POST", "/auth/register", lambda: self.register(content)),
            ("POST", "/auth/login", lambda: self.login(content)),
            ("POST", "/auth/refresh", lambda: self.renew(content)),
            ("GET", "/me", lambda: self.me(user)),
            ("GET", "/users/search", lambda: self.search(query["q"])),
            ("GET", r"/users/(\d+)", lambda id: self.user(user, id)),
            ("POST", "/chats", lambda: self.add_chat(user, content)),
            ("GET", "/chats", lambda: self.chat_list(user)),
            ("GET", r"/chats/(\d+)", lambda id: self.chat_detail(user, id)),
            ("POST", r"/chats/(\d+)/messages", lambda id: self.send(user, id, content)),
            ("GET", r"/chats/(\d+)/messages", lambda id: self.history(user, id, query)),
            ("GET", r"/files/(\d+)/download", lambda id: self.download(user, id)),
        ]:
            match = re.fullmatch(pattern, path)
            if match and verb == method:
                return run(*map(int, match.groups()))
        raise Refusal(404, "No such operation")

    def heard(self, socket, text):
        """Answers a frame of a client."""
        frame = json.loads(text)
        if socket.user is None:
            socket.user = self.access.get(frame.get("token"), 1 if self.has("takes any token") else None)
            if socket.user is None:
                socket.send({"type": "error", "message": "Invalid or expired access token"})
                if not self.has("keeps a socket without a token open"):
                    socket.close()
            else:
                socket.send({"type": "auth_ok", "user_id": socket.user})
        elif frame["type"] == "subscribe" and socket.user in self.chats[frame["chat_id"]]["members"]:
            socket.chats.add(frame["chat_id"])
            socket.send({"type": "subscribed", "chat_id": frame["chat_id"]})
        elif frame["type"] == "ping" and not self.has("does not answer pings"):
            socket.send({"type": "pong"})

    def push(self, message):
        for socket in self.sockets:
            if message["chat_id"] not in socket.chats or self.has("pushes nothing"):
                continue
            socket.held.append({**renamed(message), "type": "message"})
            if self.has("pushes in the wrong order"):
                if len(socket.held) < 2:
                    continue
                socket.held.reverse()
            for frame in socket.held:
                socket.send(frame)
            socket.held.clear()


def renamed(message):
    return {("message_type" if name == "type" else name): value for name, value in message.items()}


class LiveSocket:
    def __init__(self, writer, protocol):
        self.writer, self.protocol = writer, protocol
        self.user, self.chats, self.held = None, set(), []

    def send(self, frame):
        self.protocol.send_text(json.dumps(frame).encode())
        self.flush()

    def close(self):
        self.protocol.send_close(1008)
        self.flush()

    def flush(self):
        for data in self.protocol.data_to_send():
            if data:
                self.writer.write(data)


async def serve_socket(server, head, reader, writer):
    protocol = ServerProtocol(max_size=2**20)
    protocol.receive_data(head)
    request = protocol.events_received()[0]
    protocol.send_response(protocol.accept(request))
    socket = LiveSocket(writer, protocol)
    socket.flush()
    server.sockets.append(socket)
    try:
        while protocol.state is not State.CLOSED:
            data = await reader.read(65536)
            protocol.receive_data(data) if data else protocol.receive_eof()
            for event in protocol.events_received():
                if event.opcode is Opcode.TEXT:
                    server.heard(socket, event.data.decode())
            socket.flush()
            await writer.drain()
            if protocol.close_expected():
                break
    finally:
        server.sockets.remove(socket)


async def serve_connection(server, reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            method, target, _ = lines[0].split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
            if headers.get("upgrade", "").lower() == "websocket":
                return await serve_socket(server, head, reader, writer)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            try:
                status, answer = server.answer(method, target, headers, body)
            except Refusal as refusal:
                is_other = refusal.status == 409 and server.has("refuses a taken name with a message in place of an error")
                status, answer = refusal.status, {"message" if is_other else "error": refusal.message}
            except (KeyError, ValueError, TypeError, StopIteration):
                status, answer = 400, {"error": "Malformed request"}
            fields, content = {"Content-Type": "application/json"}, b""
            if status == 302:
                fields = {"Location": f"http://{headers['host']}{answer}"}
            elif isinstance(answer, bytes):
                fields, content = {"Content-Type": "application/octet-stream"}, answer
            else:
                content = json.dumps(answer, ensure_ascii=False).encode()
            fields["Content-Length"] = len(content)
            rows = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            writer.write(f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n{rows}\r\n".encode() + content)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ConnectionClosed):
        pass
    finally:
        writer.close()


async def main(mistake):
    server = Messenger(mistake)
    listener = await asyncio.start_server(
        lambda reader, writer: serve_connection(server, reader, writer), "127.0.0.1", 0, limit=2**20)
    print(f"listening on {listener.sockets[0].getsockname()[1]}", flush=True)
    async with listener:
        await listener.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:] == ["--mistakes"]:
        print(json.dumps(MISTAKES))
    else:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
