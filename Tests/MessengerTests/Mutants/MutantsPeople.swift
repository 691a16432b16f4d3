import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

extension Mutant {
    private static let user = "GET /users/{id}"
    private static let search = "GET /users/search"

    static let users: [Mutant] = [
        .body("tells the e-mail address", user, of: user, #"\}$"#, #","email":"bob@example.com"}"#),
        .body("leaves out a bio that is null", user, of: user, #","bio":null"#, ""),
        .body("leaves out the avatar", user, of: user, #","avatar_file_id":null"#, ""),
        .status("answers 400 for an unknown user", user, of: user, 404, 400),
        .body("words it otherwise", user, of: user, "User not found", "No such user"),
        .exchange("shows oneself whoever is asked for", user, user) { request, forward in
            var own = request
            own.url = URL(string: "http://test/me")!
            var response = try await forward(own)
            guard response.status == .ok else { return response }
            response.text = response.text.replacingOccurrences(
                of: #""(email|created_at)":"[^"]*",?"#, with: "", options: .regularExpression
            ).replacingOccurrences(of: ",}", with: "}")
            return response
        },
    ]

    static let searching: [Mutant] = [
        .answer("is in reverse order", search, to: search) { response, _ in
            if response.status == .ok { response.rows = response.rows.reversed() }
        },
        .answer("shows a user twice", search, to: search) { response, _ in
            if response.status == .ok { response.rows = response.rows.prefix(1) + response.rows }
        },
        .filteringSearch("looks at case") { row, query in
            row[text: "username"].contains(query) || row[text: "display_name"].contains(query)
        },
        .filteringSearch("does not look at display names") { row, query in
            row[text: "username"].lowercased().contains(query.lowercased())
        },
        .filteringSearch("does not look at usernames") { row, query in
            row[text: "display_name"].lowercased().contains(query.lowercased())
        },
        .filteringSearch("looks at beginnings only") { row, query in
            [row[text: "username"], row[text: "display_name"]].contains {
                $0.lowercased().hasPrefix(query.lowercased())
            }
        },
        .request("takes % for anything", search, of: search) { request in
            if let query = request.query("q") {
                request.setQuery("q", query.replacingOccurrences(of: "%25", with: ""))
            }
        },
        .request("takes _ for anything", search, of: search) { request in
            if let query = request.query("q"), query.hasSuffix("_") {
                request.setQuery("q", query.replacingOccurrences(of: "_", with: ""))
            }
        },
        .request("drops a backslash", search, of: search) { request in
            if let query = request.query("q") {
                request.setQuery("q", query.replacingOccurrences(of: "%5C", with: ""))
            }
        },
        .knowing("leaves out the caller", search, search) { request, forward, people in
            var response = try await forward(request)
            let own = request.token.flatMap { people.signIn(withAccess: $0) }?.user
            if response.status == .ok { response.rows = response.rows.filter { $0[integer: "id"] != own } }
            return response
        },
        .body("tells the bio", search, of: search, #"\}"#, #","bio":null}"#),
        .exchange("finds everybody without a query", search, search) { request, forward in
            let response = try await forward(request)
            guard response.isRefusal("q parameter required") else { return response }
            var empty = response
            (empty.status, empty.text) = (.ok, "[]")
            return empty
        },
        .answer("shows ten", search, to: search) { response, _ in
            if response.status == .ok { response.rows = Array(response.rows.prefix(10)) }
        },
        .answer("shows twenty-one", search, to: search) { response, _ in
            if response.rows.count == 20 { response.rows += [#"{"id":99999,"username":"zz","display_name":"zz"}"#] }
        },
        .request("does not trim the query", search, of: search) { request in
            if let query = request.query("q"), query.hasPrefix("%20"), query.count > 8 {
                request.setQuery("q", "\u{2060}" + query.dropFirst(6))
            }
        },
        .answer("is in the order of ids", search, to: search) { response, _ in
            guard response.status == .ok else { return }
            response.rows = response.rows.sorted { $0[integer: "id"] < $1[integer: "id"] }
        },
        .answer("puts capitals first", search, to: search) { response, _ in
            guard response.status == .ok else { return }
            response.rows = response.rows.sorted {
                $0[text: "username"].unicodeScalars.lexicographicallyPrecedes($1[text: "username"].unicodeScalars)
            }
        },
        .exchange("answers null when it finds nobody", search, search) { request, forward in
            var response = try await forward(request)
            if response.text == "[]" { response.text = "null" }
            return response
        },
    ]

    private static func filteringSearch(
        _ name: String, _ isFound: @escaping @Sendable (_ row: String, _ query: String) -> Bool
    ) -> Mutant {
        .answer(name, search, to: search) { response, request in
            guard response.status == .ok, let query = request.query("q")?.removingPercentEncoding else { return }
            let wanted = query.trimmingCharacters(in: .whitespacesAndNewlines)
            response.rows = response.rows.filter { isFound($0, wanted) }
        }
    }
}
