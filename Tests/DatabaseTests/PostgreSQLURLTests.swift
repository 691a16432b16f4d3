import Testing

@testable import Database

/// A password never stands among the arguments of a program, which every user of the machine can see.
@Suite(.timeLimit(.minutes(30))) struct PostgreSQLURLTests {
    @Test(arguments: [
        ("postgres://anna@host/db", "postgres://anna@host/db", nil),
        ("postgres://anna:se%40cret@host:5432/db", "postgres://anna@host:5432/db", "se@cret"),
        ("postgres://anna:a:b@host", "postgres://anna@host", "a:b"),
        ("postgresql:///db?host=/tmp&password=x%26y&port=1", "postgresql:///db?host=/tmp&port=1", "x&y"),
        ("postgres://host?password=x", "postgres://host", "x"),
        ("postgres://anna:one@host/db?password=two", "postgres://anna@host/db", "two"),
        (
            "postgres://anna:secret@one:5432,two:5433/db?target_session_attrs=read-write",
            "postgres://anna@one:5432,two:5433/db?target_session_attrs=read-write", "secret"
        ),
        ("postgres://[::1]:5432/db", "postgres://[::1]:5432/db", nil),
        ("postgres://anna:x@[::1]:5432/db", "postgres://anna@[::1]:5432/db", "x"),
        ("host=one dbname=db", "host=one dbname=db", nil),
    ])
    func thePasswordIsTakenOut(_ url: String, _ text: String, _ password: String?) {
        let parts = PostgreSQLURL(url)
        #expect(parts.text == text)
        #expect(parts.password == password)
    }

    @Test(arguments: [
        ("postgres://anna:secret@one/db", "postgres://anna@one/db?client_encoding=UTF8&options=%2Dc%20"),
        (
            "postgres://one/db?options=x&client_encoding=LATIN1",
            "postgres://one/db?options=x&client_encoding=LATIN1&client_encoding=UTF8&options=%2Dc%20"
        ),
    ])
    func programsHaveTheSettingsOfConnections(_ url: String, _ beginning: String) {
        let text = PostgreSQLURL(url).text(with: PostgreSQLSettings(namespace: "odd", isPatient: true))
        #expect(text.hasPrefix(beginning))
        #expect(text.contains("%2Dc%20statement%5Ftimeout%3D0%20"))
        #expect(text.contains("%2Dc%20default%5Ftransaction%5Fisolation%3Dread%5C%20committed%20"))
    }

    @Test(arguments: [
        ("postgres://anna:secret@one:5432,two:5433/db?a=b", "postgres://anna:hidden@one:5432,two:5433/db?a=b"),
        ("postgres://anna@one/db", "postgres://anna@one/db"),
        ("postgres://one,two/db?password=secret&a=b", "postgres://one,two/db?a=b&password=hidden"),
        ("postgres://one?password=secret", "postgres://one?password=hidden"),
        ("redis://:secret@one", nil), ("c2VjcmV0", nil),
    ])
    func aPasswordIsMasked(_ url: String, _ masked: String?) {
        #expect(PostgreSQLURL.masked(url) == masked)
    }
}
