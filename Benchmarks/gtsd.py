#!/usr/bin/env python3
"""Latency of GTSD's reads and plans with many people's years in the database, beside the same server's GET /health.

    Benchmarks/gtsd.py .build/release/concord            10,000 people, 365 days each, on SQLite
    Benchmarks/gtsd.py .build/debug/concord 1000 30      fewer people, fewer days

One keep-alive connection sends one request after the other, each as another person where there is a limit for each.
Everything is in a temporary folder, which is removed afterwards.
"""
import base64, hashlib, hmac, json, os, random, socket, sqlite3, subprocess, sys, tempfile, time

KEY = bytes(range(32))
TODAY = int(time.time()) // 86_400


def serve(concord, folder):
    environment = dict(os.environ, CONCORD_GTSD_TOKEN_KEY=base64.b64encode(KEY).decode())
    arguments = [concord, "serve", "gtsd", "--data", folder, "--port", "gtsd=0", "--log-level", "warning"]
    server = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline().rsplit(":", 1)[1])
    server.stdout.readline()
    return server, port


def stop(server):
    server.terminate()
    server.wait()


def seed(path, people, days):
    """Everybody has signed in, nine credited days of ten, ten badges and five completed tasks a day."""
    now = int(time.time() * 1000)
    numbers = "WITH RECURSIVE n (i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous = OFF")
    db.execute(numbers.format(1, people) + f"""
        INSERT INTO users (id, email, password, timezone, created_at, updated_at)
        SELECT i, 'u' || i || '@example.com', 'x', 'Europe/Berlin', {now} - {days} * 86400000, {now} FROM n""")
    db.execute(f"INSERT INTO sessions SELECT 's' || id, id, {now} + 604800000 FROM users")
    db.execute(f"INSERT INTO streaks (user_id, created_at, updated_at) SELECT id, {now}, {now} FROM users")
    db.execute("""INSERT INTO profiles
        SELECT id, 7000, 'male', 'lose_weight', 80, 75, 180, 'moderately_active', NULL, '[]', '[]', 3 FROM users""")
    db.execute(numbers.format(1, days) + f"""
        INSERT INTO credits SELECT u.id, {TODAY} - n.i, 1 FROM users u CROSS JOIN n WHERE (u.id + n.i * 7) % 10 < 9""")
    db.execute(numbers.format(1, 10) + f"""
        INSERT INTO badges (user_id, type, awarded_at, is_announced)
        SELECT u.id, 'b' || n.i, {now}, 1 FROM users u CROSS JOIN n""")
    db.execute(numbers.format(0, 5 * days - 1) + f"""
        INSERT INTO tasks (user_id, day, slot, type, title, description, completed_at, completed_day, completed_minute)
        SELECT u.id, {TODAY} - n.i / 5, n.i % 5 + 1, 'cardio', 'Daily Walk', 'Walk for 20 minutes at a brisk pace.',
            {now}, {TODAY} - n.i / 5, 600 FROM users u CROSS JOIN n""")
    db.commit()
    db.execute("ANALYZE")
    db.commit()
    db.close()


def token(person):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    now = int(time.time())
    claims = {"sub": str(person), "type": "access", "iat": now, "exp": now + 900, "jti": "j", "sid": f"s{person}",
              "iss": "gtsd", "aud": "gtsd"}
    text = part(b'{"alg":"HS256","typ":"JWT"}') + "." + part(json.dumps(claims).encode())
    return text + "." + part(hmac.new(KEY, text.encode(), hashlib.sha256).digest())


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, method, path, bearer=None, body=None):
        """Milliseconds until the whole answer is there."""
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n"
        if bearer:
            head += f"Authorization: Bearer {bearer}\r\n"
        if body is not None:
            head += f"Content-Length: {len(body)}\r\n"
        start = time.perf_counter()
        self.socket.sendall((head + "\r\n" + (body or "")).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(65_536)
        head, rest = answer.split(b"\r\n\r\n", 1)
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        while len(rest) < length:
            rest += self.socket.recv(65_536)
        elapsed = (time.perf_counter() - start) * 1000
        if not head.startswith(b"HTTP/1.1 2"):
            sys.exit(f"{method} {path}: {answer.decode()}")
        return elapsed


def main(concord, people="10000", days="365"):
    people, days = int(people), int(days)
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        server, _ = serve(concord, folder)
        stop(server)
        seed(folder + "/gtsd.sqlite", people, days)
        server, port = serve(concord, folder)
        try:
            connection = Connection(port)
            tokens = {person: token(person) for person in range(1, people + 1)}
            some = random.sample(range(1, people + 1), min(1000, people))

            def anybody(path):
                return lambda _: connection.call("GET", path, tokens[random.randint(1, people)])

            def each(path, body):
                return lambda turn: connection.call("POST", path, tokens[some[turn]], body)

            for _ in range(2000):
                connection.call("GET", "/health")
            rows = [
                ("GET /health, the floor", 3000, lambda _: connection.call("GET", "/health")),
                ("GET /v1/streaks/me", 3000, anybody("/v1/streaks/me")),
                ("GET /v1/badges/me", 3000, anybody("/v1/badges/me")),
                ("POST /v1/plans/generate, new", len(some), each("/v1/plans/generate", "{}")),
                ("POST /v1/plans/generate, there", len(some), each("/v1/plans/generate", "{}")),
                ("POST /v1/plans/generate, forced", len(some), each("/v1/plans/generate", '{"forceRecompute":true}')),
                ("POST /v1/streaks/check-compliance", len(some), each("/v1/streaks/check-compliance", "{}")),
                ("GET /health, again", 3000, lambda _: connection.call("GET", "/health")),
            ]
            print(f"{people} people, {days} days each; milliseconds")
            for name, count, request in rows:
                times = sorted(request(turn) for turn in range(count))
                p50, p95, p99 = (times[int(count * share)] for share in (0.5, 0.95, 0.99))
                print(f"{name:36} p50 {p50:6.2f}   p95 {p95:6.2f}   p99 {p99:6.2f}")
        finally:
            stop(server)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
