import Identity
import Testing

/// A session cookie is written and read in one form.
@Suite(.timeLimit(.minutes(30))) struct SessionCookieTests {
    private let cookie = SessionCookie(name: "a.session", isSecure: false)

    @Test func attributes() {
        #expect(cookie.setting("x", for: 60) == "a.session=x; Path=/; HttpOnly; SameSite=Lax; Max-Age=60")
        #expect(cookie.clearing == "a.session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
        #expect(SessionCookie(name: "a", isSecure: true).setting("x", for: 1).hasSuffix("; Secure"))
    }

    @Test(
        arguments: [
            (["a.session=x"], ["x"]), (["b=1; a.session=x; c=2"], ["x"]), (["b=1", "a.session=x"], ["x"]),
            (["a.session=x; a.session=y"], ["x", "y"]), (["a.session=x", "b=1; a.session=y"], ["x", "y"]),
            (["a.session=x; a.session=x", "a.session=\"x\""], ["x"]), (["a.session=\"x\""], ["x"]),
            (["a.session=x="], ["x="]), (["b=1;a.session=x "], ["x"]), (["a.session=; a.session=y"], ["y"]),
            ([], []), ([""], []), (["a.session"], []), (["a.session="], []),
            (["ba.session=x"], []), (["A.session=x"], []), (["b=a.session=x"], []), ([";;=;"], []),
            (
                [(0..<20).map { "a.session=\($0)" }.joined(separator: ";")],
                ["0", "1", "2", "3", "4", "5", "6", "7"]
            ),
        ] as [([String], [String])])
    func reads(_ headers: [String], _ tokens: [String]) {
        #expect(cookie.tokens(in: headers) == tokens)
    }
}
