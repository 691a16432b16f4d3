"""Two friends keep a diary on a Deuce Diary server, with stock clients: curl and `websockets`.

Usage: diary.py BASE_URL JOHNS_TOKEN JANES_TOKEN PICTURE
The tokens are those of new users; the picture is any image file.
Prints its requests, and fails at the first answer that differs from the contract.
"""

import asyncio
import json
import subprocess
import sys
import uuid

import websockets

BASE, JOHN, JANE, PICTURE = sys.argv[1].rstrip("/"), *sys.argv[2:5]


def curl(method, path, token=None, body=None, options=(), parse=True):
    command = ["curl", "--silent", "--show-error", "--request", method, "--write-out", "\n%{http_code} %{content_type}",
               BASE + path, *options]
    if token:
        command += ["--header", f"Authorization: Bearer {token}"]
    if body is not None:
        command += ["--header", "Content-Type: application/json", "--data", json.dumps(body)]
    output = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
    raw, _, last = output.rpartition(b"\n")
    status, _, kind = last.decode().partition(" ")
    shown = raw.decode() if parse else f"{len(raw)} bytes of {kind}"
    print(f"{method} {path} → {status} {shown[:160]}")
    return int(status), json.loads(raw) if parse and raw else raw


def expect(condition, what):
    if not condition:
        sys.exit(f"not as the contract says: {what}")


def size_of_jpeg(data):
    """Returns the size in the frame header (ITU-T T.81 B.2.2)."""
    expect(data[:2] == b"\xff\xd8", "a JPEG")
    at = 2
    while at < len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        if marker in (0xC0, 0xC2):
            return int.from_bytes(data[at + 7:at + 9], "big"), int.from_bytes(data[at + 5:at + 7], "big")
        at += 2 + length
    return None


async def main():
    status, john = curl("GET", "/api/auth/user", JOHN)
    expect(status == 200 and john["deuceCount"] == 0 and john["profileImageUrl"] is None, "a new user")
    status, groups = curl("GET", "/api/groups", JOHN)
    expect(status == 200 and [g["name"] for g in groups] == ["Solo Deuces"], "Solo Deuces")
    solo = groups[0]["id"]
    name = "john_" + uuid.uuid4().hex[:8]
    status, renamed = curl("PUT", "/api/auth/user", JOHN, {"username": name})
    expect(status == 200 and renamed["username"] == name, "a username")

    status, group = curl("POST", "/api/groups", JOHN, {"name": "Throne Room", "description": "Optional"})
    expect(status == 200 and group["createdBy"] == john["id"], "a group")
    status, invite = curl("POST", f"/api/groups/{group['id']}/invite", JOHN)
    expect(status == 200 and invite["inviteLink"].endswith("/join/" + invite["id"]), "an invite")
    status, refused = curl("GET", f"/api/groups/{group['id']}", JANE)
    expect(status == 403 and refused == {"message": "Not authorized"}, "a stranger")
    status, joined = curl("POST", f"/api/join/{invite['id']}", JANE)
    expect(status == 200 and joined == {"group": group}, "Jane joins")
    status, again = curl("POST", f"/api/join/{invite['id']}", JANE)
    expect(status == 200 and again["message"] == "Already a member of this group", "Jane joins again")

    async with websockets.connect(BASE.replace("http", "ws", 1) + "/ws") as socket:
        await socket.send(json.dumps({"type": "join_group", "groupId": group["id"]}))
        # Joining a group is not confirmed, but the answer to a later ping shows that it was handled.
        await (await socket.ping())
        status, logged = curl("POST", "/api/deuces", JOHN, {
            "groupIds": [group["id"], solo], "location": "Home", "thoughts": "A throne worthy of a king",
            "loggedAt": "2025-06-10T08:00:00.000Z"})
        expect(status == 200 and logged["count"] == 2, "a log into two groups")
        entry = logged["entries"][0]
        event = json.loads(await asyncio.wait_for(socket.recv(), 30))
        print(f"   socket ← {json.dumps(event)[:160]}")
        expect(event["type"] == "deuce_logged" and event["message"] == f"{name} logged a new deuce", "an event")
        expect({k: v for k, v in event["entry"].items() if k != "user"} == entry, "the event's entry")
        expect(event["userId"] == john["id"] and event["entry"]["user"]["deuceCount"] == 1, "the event's user")

    status, reaction = curl("POST", f"/api/entries/{entry['id']}/reactions", JANE, {"emoji": "💩"})
    expect(status == 200 and reaction["emoji"] == "💩", "a reaction")
    status, refused = curl("POST", f"/api/entries/{entry['id']}/reactions", JANE, {"emoji": "💩"})
    expect(status == 400 and refused == {"message": "You've already reacted with this emoji"}, "the same again")
    status, reactions = curl("GET", f"/api/entries/{entry['id']}/reactions", JOHN)
    expect(status == 200 and [r["userId"] for r in reactions] == [reaction["userId"]], "reactions")
    status, removed = curl("DELETE", f"/api/entries/{entry['id']}/reactions", JANE, {"emoji": "💩"})
    expect(status == 200 and removed == {"message": "Reaction removed"}, "the reaction is taken back")

    status, pictured = curl("POST", "/api/auth/user/profile-picture", JOHN,
                            options=["--form", f"profilePicture=@{PICTURE};type=image/jpeg"])
    expect(status == 200 and pictured["profileImageUrl"].startswith("/uploads/"), "a picture")
    status, picture = curl("GET", pictured["profileImageUrl"], parse=False)
    expect(status == 200 and size_of_jpeg(picture) == (200, 200), "200 by 200")
    first = pictured["profileImageUrl"]
    status, pictured = curl("POST", "/api/auth/user/profile-picture", JOHN,
                            options=["--form", f"profilePicture=@{PICTURE};type=image/jpeg"])
    expect(status == 200 and pictured["profileImageUrl"] != first, "another picture")
    status, gone = curl("GET", first)
    expect(status == 404 and gone == {"message": "Not found"}, "the first picture is gone")

    status, detail = curl("GET", f"/api/groups/{group['id']}", JANE)
    record = {m["userId"]: m["personalRecord"] for m in detail["members"]}
    expect(status == 200 and record[john["id"]] == {"date": "2025-06-10", "count": 1}, "John's record")
    expect([e["id"] for e in detail["entries"]] == [entry["id"]], "the feed")
    expect(detail["entries"][0]["user"]["profileImageUrl"] == pictured["profileImageUrl"], "the author's picture")
    status, top = curl("GET", "/api/analytics/most-deuces", JOHN)
    expect(status == 200 and top == {"date": "2025-06-10", "count": 1}, "the top day")
    status, locations = curl("GET", "/api/locations")
    expect(status == 200 and [l["name"] for l in locations][:4] == ["Airport", "Friend's House", "Gym", "Home"],
           "locations")
    print("session: as the contract says")


asyncio.run(main())
