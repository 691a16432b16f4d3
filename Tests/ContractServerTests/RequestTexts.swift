@testable import ContractServer

/// Requests as they are on the wire: valid ones with what they say, and those that the server refuses.
enum RequestTexts {
    private static let start = "POST / HTTP/1.1\r\nHost: a\r\n"
    private static let chunked = start + "Transfer-Encoding: chunked\r\n\r\n"

    /// The texts, and ``ParsedRequests/Request/summary`` of each of their requests.
    static let valid: [(text: String, requests: [String])] = [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / @a"]),
        ("GET /a?b=%20c#d HTTP/1.1\r\nhOsT: a:80\r\nAccept: */*\r\n\r\n", ["GET /a?b=%20c#d @a:80 accept=*/*"]),
        ("GET / HTTP/1.1\r\nHost:\r\nX:\r\n\r\n", ["GET / @ x="]),
        ("GET / HTTP/1.0\r\n\r\n", ["GET / old last"]),
        ("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", ["GET / @a connection=keep-alive old last"]),
        (
            "POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nab",
            [
                "POST / content-length=2 expect=100-continue old last |ab"
            ]
        ),
        // Empty lines before a request are ignored (RFC 9112 §2.2).
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n", ["GET / @a"]),
        // The server takes the path of an absolute target (RFC 9112 §3.2.2).
        ("GET http://b/c?d HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /c?d @a"]),
        ("GET HTTPS://b HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / @a"]),
        ("GET http://b?c://d HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /?c://d @a"]),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", ["OPTIONS * @a"]),
        ("CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", ["CONNECT b:443 @b:443 last"]),
        ("M-SEARCH!#$%&'*+.^_`|~ / HTTP/1.1\r\nHost: a\r\n\r\n", ["M-SEARCH!#$%&'*+.^_`|~ / @a"]),
        // Blanks around a value are not part of it, and blanks within it are.
        ("GET / HTTP/1.1\r\nHost: \t a\t \r\nX: \t b \t c\t\r\nY:   \r\n\r\n", ["GET / @a x=b \t c y="]),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: \u{E9}\u{20AC}\u{1F600}\u{FF}\r\n\r\n",
            [
                "GET / @a x=\u{E9}\u{20AC}\u{1F600}\u{FF}"
            ]
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nx: 2\r\nX: 3\r\n\r\n", ["GET / @a x=1 x=2 x=3"]),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09: \"'(),/:;<=>?@[\\]{}\r\n\r\n",
            [
                "GET / @a !#$%&'*+-.^_`|~09=\"'(),/:;<=>?@[\\]{}"
            ]
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x ,\tClose\r\n\r\n", ["GET / @a connection=x ,\tClose last"]),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed, xclose\r\n\r\n", ["GET / @a connection=closed, xclose"]),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            [
                "GET / @a connection=Upgrade upgrade=websocket upgrade"
            ]
        ),
        (start + "Content-Length: 0\r\n\r\n", ["POST / @a content-length=0"]),
        (start + "Content-Length: 5\r\n\r\nhello", ["POST / @a content-length=5 |hello"]),
        (
            start + "Content-Length: 0005\r\nExpect: 100-Continue\r\n\r\nhello",
            [
                "POST / @a content-length=0005 expect=100-Continue waits |hello"
            ]
        ),
        (
            start + "Content-Length: 999999999999999999\r\n\r\nhello",
            [
                "POST / @a content-length=999999999999999999 |hello…"
            ]
        ),
        (
            start + "transfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n00a;x=\"y;z\"\r\n0123456789\r\n0\r\n\r\n",
            [
                "POST / @a transfer-encoding=Chunked |hello0123456789"
            ]
        ),
        (
            chunked + "1;a;b=c;d=\"\";e=\"\\\"\t;\u{E9}\"\r\na\r\nA\r\n0123456789\r\n000\r\nETag: x\r\nX:\r\n\r\n",
            [
                "POST / @a transfer-encoding=chunked |a0123456789"
            ]
        ),
        (chunked + "fffffffffffffff\r\nab", ["POST / @a transfer-encoding=chunked |ab…"]),
        // The end of a body is the beginning of the next request.
        ("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n", ["GET /1 @a", "GET /2 @b"]),
        (
            start + "Content-Length: 3\r\n\r\nGET" + chunked + "3\r\nGET\r\n0\r\n\r\n" + "\r\n"
                + "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
            [
                "POST / @a content-length=3 |GET", "POST / @a transfer-encoding=chunked |GET", "GET / @b",
            ]
        ),
    ]

    /// Texts that end within a request, which is no error until the connection ends.
    static let incomplete = [
        "\r", "G", "GET", "GET /", "GET / HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r",
        start + "Content-Length: 5\r\n\r\nhell", chunked, chunked + "5", chunked + "5\r", chunked + "5;x",
        chunked + "5\r\nhell", chunked + "5\r\nhello", chunked + "5\r\nhello\r", chunked + "5\r\nhello\r\n0\r\n",
        chunked + "0\r\n\r", chunked + "0\r\nX: y\r\n", chunked + "0\r\nX: y\r\n\r",
    ]

    /// Texts of which at least one request is malformed.
    static let malformed: [String] = lengths + codings + fields + lines + chunks

    private static let lengths: [String] =
        [
            "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6",
        ].map { "\(start)\($0)\r\n\r\n0\r\n\r\n" }
        + [
            "5, 5", "5,5", "5 5", "+5", "-1", "-0", "0x5", "5.0", "5e0", "1_0", "\"5\"", "", "five", "5;", "\u{B}5",
            "5\u{0}",
            "\u{661}", "1000000000000000000", "18446744073709551616", "99999999999999999999999999",
        ].map { "\(start)Content-Length: \($0)\r\n\r\nhello" }

    private static let codings: [String] =
        [
            "gzip, chunked", "chunked, chunked", "chunked,", ",chunked", "identity", "gzip", "xchunked", "chunkedx",
            "chunked;q=1", "chunked chunked", "chun ked", "\u{B}chunked", "chunked\u{B}", "chun\tked", "\"chunked\"",
            "chunked\u{0}", "chunke\u{212A}", "chunked\t", "chunked \t", "",
        ].map { "\(start)Transfer-Encoding: \($0)\r\n\r\n0\r\n\r\n" }
        + [
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer-Encoding:\r\n chunked",
        ].map { "\(start)\($0)\r\n\r\n0\r\n\r\n" }

    private static let fields: [String] = [
        // A blank before the colon, folded lines, and names that are no tokens.
        "Content-Length : 5", "X : y", "X\t: y", " X: y", "\tX: y", "X: y\r\n z", "X: y\r\n\tz", "X: y\r\n ", ": y",
        ":",
        "X", "X y: z", "X\u{0}: y", "X\u{7F}: y", "X(: y", "X@: y", "X[: y", "\u{E9}: y", "\"X\": y",
        // Bytes that are in no value.
        "X: a\u{0}b", "X: \u{1}", "X: \u{B}", "X: \u{C}", "X: \u{1B}", "X: \u{7F}",
        // A bare CR, and a bare LF.
        "X: a\rb", "X: a\r", "X: \r", "X\r: a", "X:\ra", "\rX: a", "X: a\r\r\nY: b", "X: a\nY: b", "X: a\n", "X:\nY: b",
        "X\n: a", "\nX: a", "X: a\r\n\rY: b", "X: a\n\nGET / HTTP/1.1\r\nHost: a",
        "X: a\n\r\nGET / HTTP/1.1\r\nHost: a",
    ].map { "GET / HTTP/1.1\r\nHost: a\r\n\($0)\r\n\r\n" }

    private static let lines: [String] =
        [
            "GET / HTTP/1.2\r\n", "GET / HTTP/2.0\r\n", "GET / HTTP/0.9\r\n", "GET / HTTP/1.10\r\n",
            "GET / HTTP/1.01\r\n",
            "GET / HTTP/01.1\r\n", "GET / HTTP/1,1\r\n", "GET / HTTP/1\r\n", "GET / http/1.1\r\n", "GET / Http/1.1\r\n",
            "GET / ICE/1.1\r\n", "GET / HTTP /1.1\r\n", "GET / HTTP/1.1 \r\n", "GET / HTTP/1.1\t\r\n",
            "GET / HTTP/1.1\n",
            "GET / HTTP/1.1\r", "GET / HTTP/1.1\r\r\n", "GET / HTTP/1.1\u{0}\r\n", "GET  / HTTP/1.1\r\n",
            "GET /  HTTP/1.1\r\n", "GET\t/ HTTP/1.1\r\n", "GET /\tHTTP/1.1\r\n", " GET / HTTP/1.1\r\n",
            "\tGET / HTTP/1.1\r\n", "GET /\r\n", "GET / \r\n", "GET\r\n", "GET  HTTP/1.1\r\n", "/ HTTP/1.1\r\n",
            "HTTP/1.1\r\n",
            "G(T / HTTP/1.1\r\n", "GET: / HTTP/1.1\r\n", "G\u{0}T / HTTP/1.1\r\n", "G\u{C9}T / HTTP/1.1\r\n",
            "GET /\u{0} HTTP/1.1\r\n", "GET /\u{E9} HTTP/1.1\r\n", "GET /\u{7F} HTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n",
            "GET /\rHTTP/1.1\r\n", "GET /\nHTTP/1.1\r\n", "\nGET / HTTP/1.1\r\n", "\rGET / HTTP/1.1\r\n",
            "\r \r\nGET / HTTP/1.1\r\n", "\r\n\nGET / HTTP/1.1\r\n", "\r\n GET / HTTP/1.1\r\n", "HTTP/1.1 200 OK\r\n",
            "PRI * HTTP/2.0\r\n", "ABCDEFGHIJKLMNOPQRSTUVWXY / HTTP/1.1\r\n",
        ].map { "\($0)Host: a\r\n\r\n" }
        // What begins otherwise than a request is refused before it ends, such as a client that speaks TLS.
        + [
            "\n", "\u{16}\u{3}\u{1}", "G(", "G\r", "GET\r", "ABCDEFGHIJKLMNOPQRSTUVWXY", "\n\n", "\n\r\n",
            "GET / HTTP/1.1\n\n",
            "GET / HTTP/1.1\n\r\n", "GET / HTTP/1.1\r\n\n", "G \n\n", "GET /\n\n", "GET / H\n\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n",
            // The rest of a body of the wrong length is no request.
            start + "Content-Length: 4\r\n\r\nhello\r\n\r\n(", start + "Content-Length: 6\r\n\r\nhello(\u{1}",
        ]

    private static let chunks: [String] =
        [
            "+5\r\nhello", "-5\r\nhello", " 5\r\nhello", "5 \r\nhello", "5 ;x\r\nhello", "\t5\r\nhello", "0x5\r\nhello",
            "5h\r\nhello", "x\r\nhello", "\r\nhello", ";x\r\nhello", "5\nhello", "5\rhello", "5\r\rhello", "5\n\rhello",
            "00000000000000005\r\nhello", "ffffffffffffffff\r\nhello", "10000000000000000\r\nhello",
            "1000000000000000\r\nhello", "5;\u{0}\r\nhello", "5;\u{7F}\r\nhello", "5;a\rb\r\nhello", "5;a\nhello",
            "5;\n\r\nhello",
            "5\u{0}\r\nhello", "5,5\r\nhello",
            "5;\r\nhello", "5; \r\nhello", "5;;a\r\nhello", "5;a b\r\nhello", "5;a=\r\nhello", "5;a=;b\r\nhello",
            "5;=a\r\nhello", "5;a==b\r\nhello", "5;a=\"b\r\nhello", "5;a=\"b\"c\r\nhello", "5;a=\"\\\r\nhello",
            "5;a=\"\\\u{0}\"\r\nhello", "5;a=b\"\"\r\nhello", "5;a=\"\\\"\r\nhello",
            // The data are longer or shorter than their size, or do not end with a line.
            "5\r\nhello!", "5\r\nhell", "5\r\nhello\n", "5\r\nhello\r", "5\r\nhello0", "5\r\nhello\n\r",
        ].map { "\(chunked)\($0)\r\n0\r\n\r\n" }
        + [
            "Content-Length: 5", "content-length: 0", "Transfer-Encoding: chunked", "Host: a", "X : y", " X: y", "X",
            ": y",
            "X: a\nY: b", "X: a\rb", "X: \u{0}", "\rX: y", "\nX: y", "X: a\n", "GET / HTTP/1.1",
        ].map { "\(chunked)5\r\nhello\r\n0\r\n\($0)\r\n\r\n" }
        + [
            "0\n\n", "0\r\n\n\n", "0\r\n\r\r\n\n", "0\n\r\n", "\n", ";", "g", "5\r\nhelloX", "5\r\nhello\r\r0\r\n\r\n",
            "5\r\nhello\n\r0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5 ", "5\rX\n",
        ].map {
            chunked + $0
        }

    /// Texts that are refused for another reason.
    static let refused: [(text: String, refusal: ConnectionRefusal)] =
        [
            ("GET / HTTP/1.1\r\n\r\n", .host), ("GET / HTTP/1.1\r\nX: y\r\n\r\n", .host),
            ("GET http://a/ HTTP/1.1\r\n\r\n", .host), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .host),
            ("GET / HTTP/1.1\r\nHost: a\r\nHOST: b\r\n\r\n", .host),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", .host),
            ("GET / HTTP/1.1\r\nXost: a\r\n\r\n", .host),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\nUpgrade: b\r\n\r\n", .host),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .oldVersion),
            ("GET / HTTP/1.0\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", .oldVersion),
        ] + (limits.map(\.beyond) + [blanks(60_000), trailers(blanks(60_000))]).map { ($0, .headTooLarge) }
        + [(chunked + extended(by: 1022), .malformed), (chunked + "5;" + repeated("x", 1023), .malformed)]

    // MARK: Limits

    /// Texts at a limit, and one byte or one field beyond it.
    static let limits: [(within: String, beyond: String)] = [
        (field(16_384), field(16_385)), (field(16_384, name: "Accept"), field(16_385, name: "Accept")),
        (field(16_384, name: "Host"), field(16_385, name: "Host")), (list(32_768), list(32_769)),
        (many(99), many(100)), (target(16_384), target(16_385)),
        // Blanks, which are no part of a value, count for the head.
        (blanks(49_620), blanks(49_621)),
        (trailers(field(16_384)), trailers(field(16_385))), (trailers(list(32_773)), trailers(list(32_774))),
        (trailers(many(100)), trailers(many(101))), (trailers(blanks(49_645)), trailers(blanks(49_646))),
        // Heads and trailers without an end.
        (repeated("G", 24) + " /" + repeated("x", 49_594), repeated("G", 24) + " /" + repeated("x", 49_595)),
        (chunked + "0\r\n" + repeated("x", 49_620), chunked + "0\r\n" + repeated("x", 49_621)),
    ]

    /// A chunk whose line has an extension.
    static func extended(by count: Int) -> String { "5;\(repeated("x", count))\r\nhello\r\n0\r\n\r\n" }

    static let longestChunkLine = chunked + extended(by: 1021)

    private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private static func field(_ size: Int, name: String = "X") -> String {
        let host = name == "Host" ? "" : "Host: a\r\n"
        return "GET / HTTP/1.1\r\n\(host)\(name): \(repeated("v", size - name.count))\r\n\r\n"
    }

    private static func list(_ size: Int) -> String {
        let value = repeated("v", 16_000)
        return "GET / HTTP/1.1\r\nHost: a\r\nX: \(value)\r\nY: \(value)\r\nZ: \(repeated("v", size - 32_008))\r\n\r\n"
    }

    private static func many(_ count: Int) -> String {
        "GET / HTTP/1.1\r\nHost: a\r\n\((0..<count).map { "X-\($0): y\r\n" }.joined())\r\n"
    }

    private static func target(_ size: Int) -> String {
        "GET /\(repeated("x", size - 1)) HTTP/1.1\r\nHost: a\r\n\r\n"
    }

    /// Returns a request of a size, of which 25 bytes are before the field.
    private static func blanks(_ size: Int) -> String {
        "GET / HTTP/1.1\r\nHost: a\r\nX:\(repeated(" ", size - 31))\r\n\r\n"
    }

    /// Returns a body with trailers, which are the fields of a request without its `Host`.
    private static func trailers(_ request: String) -> String {
        let lines = request.split(separator: "\r\n", omittingEmptySubsequences: false)
        return chunked + "0\r\n" + lines.dropFirst(2).joined(separator: "\r\n")
    }
}
