"""Two people talk through a Messenger server, with stock clients: urllib and `websockets`.

Usage: session.py BASE_URL
Prints its requests, and fails at the first answer that differs from the contract.
"""

import asyncio
import json
import sys
import urllib.error
import urllib.request
import uuid

import websockets

BASE = sys.argv[1].rstrip("/")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def call(method, path, token=None, body=None, headers=None, data=None):
    headers = dict(headers or {})
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    url = path if path.startswith("http") else BASE + path
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with OPENER.open(request, timeout=30) as answer:
            status, raw, fields = answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        status, raw, fields = error.code, error.read(), error.headers
    shown = raw.decode("utf-8", "replace")
    for secret in ("access_token", "refresh_token"):
        if f'"{secret}":"' in shown:
            before, _, rest = shown.partition(f'"{secret}":"')
            shown = before + f'"{secret}":"…' + rest[rest.index('"'):]
    print(f"{method} {path.split('?signature')[0][:70]} → {status} {shown[:160]}")
    return status, (json.loads(raw) if raw[:1] in (b"{", b"[") else raw), fields


def expect(condition, what):
    if not condition:
        sys.exit(f"not as the contract says: {what}")


def person(name):
    status, account, _ = call(
        "POST", "/auth/register", body={"username": name, "email": f"{name}@example.com", "password": "secret123"})
    expect(status == 201 and account["username"] == name, "register")
    status, tokens, _ = call("POST", "/auth/login", body={"username": name, "password": "secret123"})
    expect(status == 200 and tokens["token_type"] == "Bearer" and tokens["expires_in"] == 3600, "login")
    return account["id"], tokens["access_token"]


async def live(token):
    socket = await websockets.connect(BASE.replace("http", "ws", 1) + "/ws")
    await socket.send(json.dumps({"type": "auth", "token": token}))
    frame = json.loads(await socket.recv())
    expect(frame["type"] == "auth_ok", frame)
    return socket


async def frame(socket, **expected):
    received = json.loads(await asyncio.wait_for(socket.recv(), 30))
    print(f"   socket ← {json.dumps(received)[:160]}")
    for key, value in expected.items():
        expect(received.get(key) == value, f"{key} = {value} in {received}")
    return received


async def main():
    suffix = uuid.uuid4().hex[:8]
    alice, alice_token = person(f"alice-{suffix}")
    bob, bob_token = person(f"bob-{suffix}")

    status, found, _ = call("GET", f"/users/search?q=BOB-{suffix}", bob_token)
    expect(status == 200 and found[0]["id"] == bob, "search")

    status, direct, _ = call("POST", "/chats", alice_token, {"type": "direct", "member_ids": [bob]})
    expect(status == 201 and direct["type"] == "created", "direct chat")
    status, again, _ = call("POST", "/chats", bob_token, {"type": "direct", "member_ids": [alice]})
    expect(status == 200 and again == {"id": direct["id"], "type": "existing"}, "the same direct chat")
    status, group, _ = call("POST", "/chats", alice_token, {"type": "group", "name": "Team Alpha", "member_ids": [bob]})
    expect(status == 201, "group chat")

    socket = await live(bob_token)
    for chat in (direct["id"], group["id"]):
        await socket.send(json.dumps({"type": "subscribe", "chat_id": chat}))
        await frame(socket, type="subscribed", chat_id=chat)

    status, sent, _ = call("POST", f"/chats/{direct['id']}/messages", alice_token, {"content": "Hello!", "type": "text"})
    expect(status == 201 and sent["type"] == "text", "text")
    await frame(socket, type="message", id=sent["id"], chat_id=direct["id"], sender_id=alice, content="Hello!",
                message_type="text", file_id=None, created_at=sent["created_at"])

    boundary, content = uuid.uuid4().hex, bytes(range(256)) * 1000
    form = (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="photo.jpg"\r\n'
            f"Content-Type: image/jpeg\r\n\r\n").encode() + content + f"\r\n--{boundary}--\r\n".encode()
    status, file, _ = call("POST", "/files", alice_token, data=form,
                           headers={"Content-Type": f"multipart/form-data; boundary={boundary}"})
    expect(status == 201 and file["mime_type"] == "image/jpeg", "upload")
    status, with_file, _ = call("POST", f"/chats/{group['id']}/messages", alice_token,
                                {"content": "", "type": "file", "file_id": file["id"]})
    expect(status == 201 and with_file["file_id"] == file["id"], "file message")
    await frame(socket, type="message", chat_id=group["id"], message_type="file", file_id=file["id"], content="")

    status, _, fields = call("GET", f"/files/{file['id']}/download", bob_token)
    expect(status == 302, "download")
    status, fetched, _ = call("GET", fields["Location"])
    expect(status == 200 and fetched == content, "the file's bytes")
    status, part, _ = call("GET", fields["Location"], headers={"Range": "bytes=10-19"})
    expect(status == 206 and part == content[10:20], "a range of it")
    status, _, _ = call("GET", fields["Location"][:-1] + ("A" if fields["Location"][-1] != "A" else "B"))
    expect(status == 403, "a tampered link")

    await socket.send(json.dumps({"type": "ping"}))
    await frame(socket, type="pong")
    status, history, _ = call("GET", f"/chats/{direct['id']}/messages?limit=50", bob_token)
    expect(status == 200 and [m["content"] for m in history] == ["Hello!"], "history")
    await socket.close()
    print("session: as the contract says")


asyncio.run(main())
