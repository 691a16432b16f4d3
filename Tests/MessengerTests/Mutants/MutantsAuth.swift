import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

extension Mutant {
    private static let register = "POST /auth/register"
    private static let login = "POST /auth/login"
    private static let refresh = "POST /auth/refresh"
    private static let logout = "POST /auth/logout"

    static let registering: [Mutant] = [
        .status("answers 200", register, of: register, 201, 200),
        .body("leaves out the username", register, of: register, #","username":"[^"]*""#, ""),
        .body("writes the id as text", register, of: register, #""id":(\d+)"#, #""id":"$1""#),
        .body("tells more", register, of: register, #"\}$"#, #","is_admin":false}"#),
        .answer("answers the username as it came", register, to: register) { response, request in
            guard response.status == .created, let name = request.string("username") else { return }
            response.text =
                JSONValue.object(["id": response.json["id"] ?? .null, "username": .string(name)]).description
        },
        .body("writes a hyphen for a dash", register, of: register, "3–32", "3-32"),
        .status("answers 400 for a taken name", register, of: register, 409, 400),
        .exchange("lets a username have 33 characters", register, register) { request, forward in
            var request = request
            if let name = request.string("username"), name.unicodeScalars.count > 32 {
                request.json["username"] = .string(String(String.UnicodeScalarView(name.unicodeScalars.prefix(32))))
            }
            return try await forward(request)
        },
        .lenient("lets a username have an @", register, of: register, to: "Username contains invalid characters") {
            $0.json["username"] = .string("fresh-\(UUID().uuidString.prefix(8))")
        },
        .lenient("takes any e-mail address", register, of: register, to: "Invalid email") {
            $0.json["email"] = .string("\(UUID().uuidString)@example.com")
        },
        .request("takes a password of 7 characters", register, of: nil) { request in
            if let password = request.string("password"), 1..<8 ~= password.unicodeScalars.count {
                request.json["password"] = .string(password + "-padding")
            }
        },
        .request("trims passwords", register, of: nil) { request in
            if let password = request.string("password"), password.hasSuffix(" "), password.contains("a") {
                request.json["password"] = .string(password.trimmingCharacters(in: .whitespaces))
            }
        },
        .request("takes a password of 201 characters", register, of: register) { request in
            if let password = request.string("password"), password.unicodeScalars.count == 201 {
                request.json["password"] = "12345678"
            }
        },
        .lenient("takes longer terms", register, of: register, to: "accepted_terms must be at most 100 characters") {
            $0.json["accepted_terms"] = nil
        },
        .refusing(
            "counts the bytes of the terms", register, of: register, 400,
            "accepted_terms must be at most 100 characters"
        ) {
            ($0.string("accepted_terms") ?? "").utf8.count > 100
        },
        .lenient("gives a taken name again", register, of: register, to: "Username or email already taken") {
            $0.json["username"] = .string("again-\(UUID().uuidString.prefix(8))")
            $0.json["email"] = .string("\(UUID().uuidString)@example.com")
        },
        .body(
            "keeps no default display name", register, of: "GET /me", #""display_name":"[^"]*""#, #""display_name":"""#),
        .request("does not trim display names", register, of: register) { request in
            if let name = request.string("display_name"), name.hasPrefix(" "), !name.allSatisfy(\.isWhitespace) {
                request.json["display_name"] = .string("\u{2060}" + name.dropFirst(2))
            }
        },
        .answer("looks at the e-mail address first", register, to: register) { response, request in
            if response.status == .badRequest, request.string("email").map({ !$0.contains("@") }) ?? true {
                response = .refusal(400, "Invalid email")
            }
        },
        .header("limits without saying for how long", register, of: register, .retryAfter, nil),
        .exchange("keeps what a refused registration would have taken", register, register) { request, forward in
            let response = try await forward(request)
            if response.status == .conflict, let email = request.string("email") {
                var taking = request
                taking.json["username"] = .string("taking-\(UUID().uuidString.prefix(8))")
                taking.json["email"] = .string(email)
                _ = try await forward(taking)
            }
            return response
        },
    ]

    static let signingIn: [Mutant] = [
        .body("lets tokens live for two hours", login, of: login, "3600", "7200"),
        .body("writes the lifetime as text", login, of: login, "3600", #""3600""#),
        .body("writes bearer small", login, of: login, "Bearer", "bearer"),
        .body("leaves out the refresh token", login, of: login, #""refresh_token":"[^"]*","#, ""),
        .body("writes the user as text", login, of: login, #""user_id":(\d+)"#, #""user_id":"$1""#),
        .body("tells the scope", login, of: login, #"\}$"#, #","scope":"all"}"#),
        .knowing("tells unknown users apart", login, login) { request, forward, people in
            let response = try await forward(request)
            let isKnown = request.string("username").flatMap { people.password(of: $0) } != nil
            return response.status == .unauthorized && !isKnown ? .refusal(401, "Unknown user") : response
        },
        .refusing("knows no e-mail addresses", login, of: login, 401, "Invalid credentials") {
            $0.string("username")?.contains("@") == true
        },
        .knowing("compares passwords without regard to case", login, login) { request, forward, people in
            var request = request
            let password = request.string("username").flatMap { people.password(of: $0) }
            if let password, request.string("password")?.lowercased() == password.lowercased() {
                request.json["password"] = .string(password)
            }
            return try await forward(request)
        },
        .knowing("compares usernames with regard to case", login, login) { request, forward, people in
            let name = request.string("username") ?? ""
            let isKnown = name.contains("@") || people.password(of: name) != nil
            return isKnown ? try await forward(request) : .refusal(401, "Invalid credentials")
        },
        .status("answers 403 for a wrong password", login, of: login, 401, 403),
        .lenient("lets a password be empty", login, of: login, to: "username and password required") {
            $0.text = #"{"username":"nobody","password":"nothing"}"#
        },
        .header("limits guesses without saying for how long", login, of: login, .retryAfter, nil),
        .answer("does not limit guesses", login, to: login) { response, _ in
            if response.status == .tooManyRequests { response = .refusal(401, "Invalid credentials") }
        },
        .knowing("lets the right password in whatever was guessed before", login, login) { request, forward, people in
            let response = try await forward(request)
            guard response.status == .tooManyRequests, let name = request.string("username"),
                people.password(of: name) == request.string("password"),
                let signIn = people.signIns.last(where: { $0.name == name })
            else { return response }
            let tokens: JSONValue = [
                "access_token": .string(signIn.accessToken), "refresh_token": .string(signIn.refreshToken),
                "token_type": "Bearer", "expires_in": 3600, "user_id": .integer(signIn.user),
            ]
            return TransportResponse(
                status: .ok, headers: [.contentType: "application/json"], body: Array(tokens.description.utf8))
        },
        .knowing("lets access tokens outlive their hour", login) { request, forward, people in
            let response = try await forward(request)
            guard response.status == .unauthorized, let own = people.signIn(withAccess: request.token ?? "") else {
                return response
            }
            var renewal = request
            renewal.method = .post
            renewal.url = URL(string: "http://test/auth/refresh")!
            renewal.json = ["refresh_token": .string(own.refreshToken)]
            guard case .string(let token)? = try await forward(renewal).json["access_token"] else { return response }
            var request = request
            request.token = token
            return try await forward(request)
        },
        .disguising("names another algorithm", login) { header, _ in header["alg"] = "HS512" },
        .disguising("gives refresh tokens a year", login) { _, claims in
            if claims["type"] == "refresh", case .integer(let issued)? = claims["iat"] {
                claims["exp"] = .integer(issued + 31_536_000)
            }
        },
        .disguising("has one session for all sign-ins", login) { _, claims in claims["sid"] = "session" },
        .disguising("writes the subject as a number", login) { _, claims in
            if case .string(let text)? = claims["sub"], let id = Int64(text) { claims["sub"] = .integer(id) }
        },
        .disguising("says more in a token", login) { _, claims in claims["email"] = "alice@example.com" },
    ]

    static let refreshing: [Mutant] = [
        .body("rotates", refresh, of: refresh, #"^\{"#, #"{"refresh_token":"eyJ.eyJ.abc","#),
        Mutant(refresh, "takes a refresh token once") {
            let used = NIOLockedValueBox<Set<String>>([])
            return Defect(exchange: { request, forward in
                guard request.isFor(refresh), let token = request.string("refresh_token") else {
                    return try await forward(request)
                }
                let isFresh = used.withLockedValue { $0.insert(token).inserted }
                return isFresh ? try await forward(request) : .refusal(401, "Invalid or expired refresh token")
            })
        },
        .knowing("takes an access token", refresh, refresh) { request, forward, people in
            var request = request
            if let token = request.string("refresh_token"), let signIn = people.signIn(withAccess: token) {
                request.json["refresh_token"] = .string(signIn.refreshToken)
            }
            return try await forward(request)
        },
        .body("leaves out the token's type", refresh, of: refresh, #""token_type":"Bearer","#, ""),
        .body("writes the lifetime as text", refresh, of: refresh, "3600", #""3600""#),
        .status("answers 400 for an unknown token", refresh, of: refresh, 401, 400),
        .body(
            "answers a refresh token for an access token", refresh, of: refresh, #"("access_token":"[^"]*)""#, #"$1x""#),
        .knowing("takes a token whose signature is cut", refresh, refresh) { request, forward, people in
            var request = request
            if let token = request.string("refresh_token"), token.filter({ $0 == "." }).count == 2,
                let signIn = people.signIns.first(where: { $0.refreshToken.hasPrefix(token) })
            {
                request.json["refresh_token"] = .string(signIn.refreshToken)
            }
            return try await forward(request)
        },
    ]

    static let signingOut: [Mutant] = [
        .exchange("ends nothing", logout, logout) { request, forward in
            request.string("refresh_token")?.isEmpty == false
                ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .knowing("ends all sessions of the user", logout, logout) { request, forward, people in
            if let own = people.signIn(withRefresh: request.string("refresh_token") ?? "") {
                for other in people.signIns where other.user == own.user && other.refreshToken != own.refreshToken {
                    var request = request
                    request.json["refresh_token"] = .string(other.refreshToken)
                    _ = try await forward(request)
                }
            }
            return try await forward(request)
        },
        .answer("answers 200", logout, to: logout) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = "{}"
            }
        },
        .knowing("refuses an unknown token", logout, logout) { request, forward, people in
            let token = request.string("refresh_token") ?? ""
            let isKnown = token.isEmpty || people.signIn(withRefresh: token) != nil
            return isKnown ? try await forward(request) : .refusal(401, "Invalid or expired refresh token")
        },
        .knowing("leaves the access token good", logout) { request, forward, people in
            let response = try await forward(request)
            guard response.status == .unauthorized, let token = request.token,
                let own = people.signIn(withAccess: token),
                let other = people.signIns.last(where: { $0.user == own.user && $0.accessToken != token })
            else { return response }
            var request = request
            request.token = other.accessToken
            return try await forward(request)
        },
        .knowing("leaves the refresh token good", logout, refresh) { request, forward, people in
            let response = try await forward(request)
            guard response.status == .unauthorized, let token = request.string("refresh_token"),
                let own = people.signIn(withRefresh: token),
                let other = people.signIns.last(where: { $0.user == own.user && $0.refreshToken != token })
            else { return response }
            var request = request
            request.json["refresh_token"] = .string(other.refreshToken)
            return try await forward(request)
        },
    ]

    static let account: [Mutant] = [
        .body("leaves out a bio that is null", "GET /me", of: "GET /me", #""bio":null,"#, ""),
        .body("leaves out the avatar", "GET /me", of: "GET /me", #""avatar_file_id":null,?"#, ""),
        .body("writes a bio that is empty", "GET /me", of: "GET /me", #""bio":null"#, #""bio":"""#),
        .body("writes times with a fraction", "GET /me", of: "GET /me", #"(\d\d)Z""#, #"$1.000Z""#),
        .body("writes times with an offset", "GET /me", of: "GET /me", #"(\d\d)Z""#, #"$1+00:00""#),
        .body(
            "writes times as numbers", "GET /me", of: "GET /me", #""created_at":"[^"]*""#, #""created_at":1771840800"#),
        .body("writes times without the T", "GET /me", of: "GET /me", #"(\d\d)T(\d\d)"#, "$1 $2"),
        .body("tells the password's hash", "GET /me", of: "GET /me", #"\}$"#, #","password_hash":"$scrypt"}"#),
        .body("writes camelCase", "GET /me", of: "GET /me", "display_name", "displayName"),
        .answer("keeps e-mail addresses in lower case", "GET /me", to: "GET /me") { response, _ in
            let email = response.text[text: "email"]
            response.text = response.text.replacingOccurrences(of: email, with: email.lowercased())
        },
        .body("has no display name", "GET /me", of: "GET /me", #""display_name":"[^"]*""#, #""display_name":null"#),
        .header("calls JSON text", "GET /me", of: "GET /me", .contentType, "text/plain; charset=utf-8"),
        .answer("answers in an envelope", "GET /me", to: "GET /me") { response, _ in
            if response.status == .ok { response.text = #"{"data":\#(response.text)}"# }
        },
    ]

    /// Changes the tokens that clients receive, and replaces them by the server's in requests.
    private static func disguising(
        _ name: String, _ clause: String,
        _ change: @escaping @Sendable (_ header: inout [String: JSONValue], _ claims: inout [String: JSONValue]) -> Void
    ) -> Mutant {
        Mutant(clause, name) {
            let real = NIOLockedValueBox<[String: String]>([:])
            return Defect(exchange: { request, forward in
                var request = request
                let known = real.withLockedValue { $0 }
                if let token = request.token, let genuine = known[token] { request.token = genuine }
                if let token = request.string("refresh_token"), let genuine = known[token] {
                    request.json["refresh_token"] = .string(genuine)
                }
                var response = try await forward(request)
                guard response.status == .ok else { return response }
                for member in ["access_token", "refresh_token"] {
                    guard case .string(let token)? = response.json[member] else { continue }
                    let parts = token.split(separator: ".").map(String.init)
                    guard parts.count == 3, var header = members(ofBase64: parts[0]),
                        var claims = members(ofBase64: parts[1])
                    else { continue }
                    change(&header, &claims)
                    let fake = "\(base64(header)).\(base64(claims)).\(parts[2])"
                    real.withLockedValue { $0[fake] = token }
                    response.text = response.text.replacingOccurrences(of: token, with: fake)
                }
                return response
            })
        }
    }

    private static func members(ofBase64 part: String) -> [String: JSONValue]? {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while !text.count.isMultiple(of: 4) { text += "=" }
        guard let data = Data(base64Encoded: text),
            case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: data)
        else { return nil }
        return members
    }

    private static func base64(_ members: [String: JSONValue]) -> String {
        Data(JSONValue.object(members).description.utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
