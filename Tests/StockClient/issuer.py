"""Plays an issuer such as Clerk for a Deuce Diary server, and a forger, with the stock library PyJWT.

Usage: issuer.py BASE_URL PORT [pending]
The server must have been started with --deuce-diary-issuer http://127.0.0.1:PORT and --deuce-diary-party
https://app.example, and with --deuce-diary-allow-pending-sessions for "pending". Prints every answer, and fails at the first that differs from the contract.
"""

import base64
import hashlib
import hmac
import http.server
import json
import sys
import threading
import time
import urllib.error
import urllib.request

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

BASE, PORT = sys.argv[1].rstrip("/"), int(sys.argv[2])
TAKES_PENDING = sys.argv[3:] == ["pending"]
ISSUER, PARTY = f"http://127.0.0.1:{PORT}", "https://app.example"
key, foreign = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
asked = []


def key_set(key, kid):
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return json.dumps({"keys": [{**jwk, "kid": kid, "use": "sig", "alg": "RS256"}]}).encode()


class KeySet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        body = key_set(key, "ins_1") if self.path == "/.well-known/jwks.json" else key_set(foreign, "ins_1")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def token(user="user_clerk", sign=key, kid="ins_1", headers=None, algorithm="RS256", leave=(), **claims):
    now = int(time.time())
    payload = {"iss": ISSUER, "sub": user, "azp": PARTY, "iat": now, "nbf": now - 1, "exp": now + 600, **claims}
    for name in leave:
        del payload[name]
    return jwt.encode(payload, sign, algorithm=algorithm, headers={"kid": kid, **(headers or {})})


def encoded(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def confused():
    """Returns a token that is signed by HS256 with the public key (RFC 8725, 2.1)."""
    secret = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, claims, _ = token().split(".")
    head = encoded(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "ins_1"}).encode())
    return f"{head}.{claims}.{encoded(hmac.new(secret, f'{head}.{claims}'.encode(), hashlib.sha256).digest())}"


def altered():
    head, claims, signature = token().split(".")
    payload = json.loads(base64.urlsafe_b64decode(claims + "=="))
    return f"{head}.{encoded(json.dumps({**payload, 'sub': 'user_other'}).encode())}.{signature}"


def expect(what, token, status, check):
    request = urllib.request.Request(BASE + "/api/auth/user", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            found, body = answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        found, body = error.code, json.load(error)
    print(f"{what} → {found} {json.dumps(body)[:120]}")
    if found != status or not check(body):
        sys.exit(f"not as the contract says: {what}")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), KeySet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    named = token(email="ann@example.com", first_name="Ann", last_name="Example")
    expect("a good token", named, 200, lambda user: (user["id"], user["email"], user["firstName"], user["lastName"])
           == ("user_clerk", "ann@example.com", "Ann", "Example"))
    expect("an active session", token(sts="active", v=2), 200, lambda user: user["id"] == "user_clerk")
    if TAKES_PENDING:
        expect("a pending session", token(sts="pending", v=2), 200, lambda user: user["id"] == "user_clerk")

    past = int(time.time()) - 60
    forged = {
        "none": token(sign=None, algorithm="none"),
        "HS256 with the public key": confused(),
        "a kid that nobody published": token(sign=foreign, kid="ins_2"),
        "another key under the published kid": token(sign=foreign),
        "jku to keys of the forger's": token(sign=foreign, headers={"jku": ISSUER + "/forged"}),
        "jwk of the forger's": token(sign=foreign, headers={"jwk": json.loads(key_set(foreign, "ins_1"))["keys"][0]}),
        "RS512": token(algorithm="RS512"),
        "expired": token(exp=past),
        "not valid yet": token(nbf=int(time.time()) + 60),
        "another issuer": token(iss="https://elsewhere.example"),
        "another party": token(azp="https://elsewhere.example"),
        "no expiry": token(leave=["exp"]),
        "no issuer": token(leave=["iss"]),
        "no user": token(leave=["sub"]),
        "an access token": token(headers={"typ": "at+jwt"}),
        "a logout token": token(headers={"typ": "logout+jwt"}),
        "a machine": token(user="mch_1"),
        "a session that has ended": token(sts="ended", v=2),
        **({} if TAKES_PENDING else {"a pending session": token(sts="pending", v=2)}),
        "somebody else's claims": altered(),
        "no token at all": "abc",
    }
    for what, forgery in forged.items():
        expect(what, forgery, 401, lambda body: body == {"message": "Invalid token"})
    if "/forged" in asked:
        sys.exit("not as the contract says: keys were taken from where the token says")

    server.shutdown()
    server.server_close()
    expect("a good token while the issuer is away", token("user_next"), 200, lambda user: user["id"] == "user_next")
    expect("a kid never seen while the issuer is away", token(kid="ins_3"), 401, lambda _: True)
    print(f"issuer: as the contract says, {len(forged)} forgeries refused, keys asked for {len(asked)} times")


main()
