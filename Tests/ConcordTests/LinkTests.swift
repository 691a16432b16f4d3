import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

/// Links in answers begin with the address at which the client asked, unless the operator has set a public URL.
@Suite(.timeLimit(.minutes(30))) struct LinkTests {
    /// A client of one API at one of the server's addresses, who looks at the links of every answer.
    private struct Visitor {
        let host: String
        /// What every link must begin with.
        let links: String
        private let raw: RawClient
        var headers: HTTPFields = [.contentType: "application/json"]

        init(_ host: String, _ port: Int, links: String? = nil) throws {
            self.host = host
            self.links = links ?? "http://\(host):\(port)"
            raw = RawClient(
                baseURL: try #require(URL(string: "http://\(host):\(port)")),
                transport: URLSessionTransport.patient)
        }

        @discardableResult
        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, key: String? = nil,
            links count: Int = 0
        ) async throws -> RawAnswer {
            var headers = headers
            headers[.idempotencyKey] = key
            return try look(at: try await raw.send(method, path, headers: headers, body: body), count)
        }

        /// Sends a picture as a form.
        @discardableResult
        func send(_ path: String, picture field: String, links count: Int) async throws -> RawAnswer {
            let (type, bytes) = PictureForm.make(field)
            var headers = headers
            headers[.contentType] = type
            return try look(at: try await raw.send(.post, path, headers: headers, bytes: bytes), count)
        }

        private func look(at answer: RawAnswer, _ count: Int) throws -> RawAnswer {
            let text = answer.text + " " + (answer.headers[.location] ?? "")
            #expect(200...399 ~= answer.status, "\(text)")
            let found = text.matches(of: #/https?:\/\/[^\/"]+/#).map { String($0.output) }
            #expect(found.count >= count && found.allSatisfy { $0 == links }, "\(answer.request.url): \(text)")
            return answer
        }

        /// Fetches what a link leads to.
        func follow(_ link: String?) async throws {
            let url = try #require(link.flatMap { URL(string: $0) })
            let answer = try await URLSessionTransport.patient.send(
                TransportRequest(method: .get, url: url), progress: nil)
            #expect(answer.status == .ok, "\(url)")
        }
    }

    private static let hosts = ["127.0.0.1", "localhost"]

    /// Serves an API with the defaults, and has it asked at each of its addresses.
    private func asked(
        _ api: String, _ body: (_ folder: String, [Visitor]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try ConcordProcess(["serve", api, "--data", folder, "--port", "\(api)=\(port)"])
            try await server.waitUntilReady()
            try await body(folder, try Self.hosts.map { try Visitor($0, port) })
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func messengersFilesAreWhereTheClientIs() async throws {
        try await asked("messenger") { _, visitors in
            for var visitor in visitors {
                try await fileOfAlice(&visitor, "alice-\(visitor.host)")
            }
        }
    }

    private func fileOfAlice(_ visitor: inout Visitor, _ name: String, isFollowed: Bool = true) async throws {
        let name = name.replacing(".", with: "-")
        let account = #"{"username":"\#(name)","email":"\#(name)@example.com","password":"secret123"}"#
        try await visitor.send(.post, "/auth/register", account)
        let signedIn = try await visitor.send(.post, "/auth/login", account)
        visitor.headers[.authorization] = "Bearer \(try signedIn.json()["access_token"]?.string ?? "")"
        let file = try await visitor.send("/files", picture: "file", links: 0)
        let id = try #require(try file.json()["id"]?.integer)
        let answer = try await visitor.send(.get, "/files/\(id)/download", links: 1)
        if isFollowed { try await visitor.follow(answer.headers[.location]) }
    }

    @Test func aPublicURLWins() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let url = "https://messenger.example.com"
            let server = try ConcordProcess(
                [
                    "serve", "messenger", "--data", folder, "--port", "messenger=\(port)", "--public-url",
                    "messenger=\(url)",
                ])
            try await server.waitUntilReady()
            var visitor = try Visitor("127.0.0.1", port, links: url)
            try await fileOfAlice(&visitor, "alice", isFollowed: false)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func dunbarsPicturesAreWhereTheClientIs() async throws {
        try await asked("dunbar") { _, visitors in
            var cookie: String?
            for var visitor in visitors {
                if cookie == nil {
                    let account =
                        #"{"username":"jdoe","email":"jdoe@example.com","password":"secret123","displayName":"J"}"#
                    let answer = try await visitor.send(.post, "/api/register", account)
                    cookie = answer.headers[.setCookie]?.split(separator: ";").first.map(String.init)
                }
                visitor.headers[.cookie] = cookie
                let post = try await visitor.send("/api/posts", picture: "media", links: 1)
                try await visitor.follow(try post.json()["media"]?[0]?.string)
                try await visitor.send("/api/users/1/photo", picture: "photo", links: 1)
                try await visitor.send(.get, "/api/feed", links: 1)
                try await visitor.send(.get, "/api/users/1", links: 1)
                // A repeat at another address has links to that one.
                try await visitor.send(.post, "/api/posts", #"{"content":"Once"}"#, key: "once", links: 1)
            }
        }
    }

    @Test func photosOfGTSDAreWhereTheClientIs() async throws {
        try await asked("gtsd") { _, visitors in
            var token: String?
            let picture = SampleImage.jpeg(width: 64, height: 64)
            for var visitor in visitors {
                if token == nil {
                    let answer = try await visitor.send(
                        .post, "/auth/signup", #"{"email":"anna@example.com","password":"Secret-123"}"#)
                    token = try answer.json()["data"]?["accessToken"]?.string
                }
                visitor.headers[.authorization] = "Bearer \(token ?? "")"
                let photo = #""contentType":"image/jpeg","fileSize":\#(picture.count)"#
                let presign = #"{"fileName":"a.jpg",\#(photo)}"#
                try await visitor.send(.post, "/v1/progress/photo/presign", presign, key: "once", links: 1)
                let place = try await visitor.send(.post, "/v1/progress/photo/presign", presign, links: 1).json()[
                    "data"]
                let url = try #require(place?["uploadUrl"]?.string.flatMap { URL(string: $0) })
                var upload = TransportRequest(method: .put, url: url, headers: [.contentType: "image/jpeg"])
                upload.body = .bytes(picture)
                #expect(try await URLSessionTransport.patient.send(upload, progress: nil).status == .ok)
                let key = try #require(place?["fileKey"]?.string)
                let confirmed = try await visitor.send(
                    .post, "/v1/progress/photo/confirm",
                    #"{"fileKey":"\#(key)","width":64,"height":64,\#(photo),"evidenceType":"before"}"#, links: 1)
                try await visitor.follow(try confirmed.json()["data"]?["downloadUrl"]?.string)
                try await visitor.send(.get, "/v1/progress/photos", links: 1)
            }
        }
    }

    @Test func invitesOfDeuceDiaryAreWhereTheClientIs() async throws {
        try await asked("deuce-diary") { folder, visitors in
            let token = try await ConcordProcess.diaryToken("user_john", folder)
            for var visitor in visitors {
                visitor.headers[.authorization] = "Bearer \(token)"
                let group = try await visitor.send(.post, "/api/groups", #"{"name":"Throne Room"}"#).json()
                let path = "/api/groups/\(try #require(group["id"]?.string))/invite"
                try await visitor.send(.post, path, "{}", links: 1)
                try await visitor.send(.get, path + "s", links: 1)
            }
        }
    }

    @Test func recordsOfMonicaAreWhereTheClientIs() async throws {
        try await asked("monica") { folder, visitors in
            let command = try ConcordProcess(["monica", "token", "create", "--account", "alice", "--data", folder])
            let token = await command.wholeOutput().trimmingCharacters(in: .whitespacesAndNewlines)
            for var visitor in visitors {
                visitor.headers[.authorization] = "Bearer \(token)"
                let contact = """
                    {"first_name":"John","is_birthdate_known":false,"is_deceased":false,"is_deceased_date_known":false}
                    """
                let made = try await visitor.send(.post, "/api/contacts", contact, links: 1).json()
                let id = try #require(made["data"]?["id"]?.integer)
                try await visitor.send(.post, "/api/notes", #"{"contact_id":\#(id),"body":"Tea"}"#, links: 1)
                for path in ["contacts", "contacts/\(id)", "notes", "contacts/\(id)/notes", "export/json"] {
                    try await visitor.send(.get, "/api/\(path)", links: 1)
                }
                try await visitor.send(.put, "/api/contacts/\(id)/food", #"{"food_preferences":"No nuts"}"#, links: 1)
            }
        }
    }
}
