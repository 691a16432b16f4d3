"""A mail server for the tests, by PyPI's aiosmtpd: prints its version, then each received e-mail as a line of JSON."""
import argparse
import json
import ssl
import sys
import time

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such mailbox"
        if address.startswith("later@"):
            return "451 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "data": envelope.original_content.decode("utf-8"),
            "encrypted": server.transport.get_extra_info("sslcontext") is not None,
            "authenticated": bool(session.authenticated),
            "utf8": bool(envelope.smtp_utf8),
        }
        print(json.dumps(message), flush=True)
        return "250 taken"


class Server(Controller):
    def __init__(self, arguments, tls):
        self.arguments, self.tls = arguments, tls
        super().__init__(
            Handler(),
            hostname="127.0.0.1",
            port=arguments.port,
            ssl_context=tls if arguments.mode == "implicit" else None,
        )

    def factory(self):
        def authenticate(server, session, envelope, mechanism, data):
            known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"concord", b"p@ss word")
            return AuthResult(success=known, handled=False)

        return SMTP(
            self.handler,
            hostname="mail.test",
            enable_SMTPUTF8=not self.arguments.ascii,
            tls_context=self.tls if self.arguments.mode == "starttls" else None,
            require_starttls=self.arguments.mode == "starttls",
            authenticator=authenticate,
            auth_required=self.arguments.auth,
            auth_require_tls=self.arguments.mode == "starttls",
            auth_exclude_mechanism=["PLAIN"] if self.arguments.login else [],
            timeout=300,
        )


parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--mode", choices=["plain", "starttls", "implicit"], default="plain")
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--auth", action="store_true")
parser.add_argument("--login", action="store_true", help="offer LOGIN and not PLAIN")
parser.add_argument("--ascii", action="store_true", help="offer no SMTPUTF8")
arguments = parser.parse_args()
tls = None
if arguments.certificate:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(arguments.certificate, arguments.key)
controller = Server(arguments, tls)
controller.start()
print("ready", flush=True)
try:
    sys.stdin.read()
finally:
    controller.stop()
