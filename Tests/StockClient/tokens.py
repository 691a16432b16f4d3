"""Checks a token of Concord's with PyJWT, and makes tokens for Concord to check.

Usage: tokens.py KEY-FILE TOKEN NOW OUTPUT
"""

import base64
import json
import sys

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_der_private_key

key_file, token, now, output = sys.argv[1:]
now = int(now)

# The key is PKCS #8 in base64, which any tool can read.
with open(key_file) as file:
    own = load_der_private_key(base64.b64decode(file.read()), None).public_key()
claims = jwt.decode(
    token,
    own,
    algorithms=["RS256"],
    issuer="concord",
    options={"verify_exp": False, "verify_iat": False, "require": ["iss", "sub", "iat", "exp"]},
)
assert claims == {
    "iss": "concord",
    "sub": "user_abc",
    "email": "zoë@example.com",
    "first_name": "Zoë",
    "iat": now,
    "exp": now + 60,
}, claims
assert jwt.get_unverified_header(token)["alg"] == "RS256"

key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
payload = {
    "iss": "https://py.example",
    "sub": "user_py",
    "email": "zoë@example.com",
    "given_name": "Zoë",
    "iat": now,
    "nbf": now,
    "exp": now + 60,
}


def made(key, algorithm):
    return jwt.encode(payload, key, algorithm=algorithm, headers={"kid": "py"})


with open(output, "w") as file:
    json.dump(
        {
            "keySet": json.dumps({"keys": [{**public, "kid": "py", "use": "sig"}]}),
            "good": made(key, "RS256"),
            "forged": {
                "another key": made(other, "RS256"),
                "RS384": made(key, "RS384"),
                "RS512": made(key, "RS512"),
                "PS256": made(key, "PS256"),
                "none": made(None, "none"),
            },
        },
        file,
    )
print("tokens: as the standard says")
