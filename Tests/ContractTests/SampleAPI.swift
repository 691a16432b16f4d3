import Contract
import HTTPTypes

/// An API for these tests, with a field of every type.
enum Sample: ServiceAPI {
    static let name = "sample"
    static let errorMessages = ErrorMessages()
    static let sections: [Section] = []

    struct Failure: WireFailure {
        var message: String
        init(_ problem: Problem, requestID: String) { message = problem.message }
    }

    enum Thing {}
    typealias ID = Identifier<Thing>

    struct Kind: OpenEnumeration {
        let rawValue: String
        static let plain = Kind(rawValue: "plain")
        static let absent = plain
    }

    /// A type that is no ``WireField``: it is decoded strictly.
    struct Place: Codable, Hashable {
        var x: Int
        var y: Double
    }

    /// An operation with every type that a query can hold.
    struct Find: OpenEndpoint, Equatable {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.get("/things/{id}/{name}/parts")

        var id: ID
        var name: String
        var text = ""
        var flag = false
        var count = 0
        var note: String?
        var limit: Int?
        var after: ID?
        var ratio: Double?
        var day: Day?
    }

    /// An operation with every type that a JSON body can hold.
    struct Change: OpenEndpoint, Equatable {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.put("/things/{id}")

        var id: ID
        var title = ""
        var kind = Kind.plain
        var flag = false
        var count = 0
        var large: Int64 = 0
        var others: [ID] = []
        var tags: [String] = []
        var note: String?
        var limit: Int?
        var after: ID?
        var maybe: Bool?
        var place: Place?
        var time: Timestamp<Seconds>?
        @OrNull var cleared: String?
    }

    /// An operation with the same fields, which objects to every issue.
    struct StrictChange: OpenEndpoint {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.put("/things/{id}/strictly")

        var id: ID
        var title: String
        var kind: Kind
        var others: [ID]
        var note: String?
        var size: Int?

        static func review(_ issues: [FieldIssue]) throws(Problem) {
            let text = issues.map { "\($0.field) \($0.kind)" }.sorted().joined(separator: ", ")
            throw Problem(.unprocessableContent, text)
        }
    }

    struct Upload: OpenEndpoint {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.post(
            "/things/{id}/files", .created,
            in: .multipart(.init(field: "file", maximumSize: 10, missing: "No file", tooLarge: "Too large")))

        var id: ID
        var caption: String
        var width: Int?
        var file: Contract.Upload
    }

    /// An operation with a list in its query: the name is repeated for each element.
    struct Filter: OpenEndpoint {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.delete("/things", .noContent)

        var tag: [String]
        var place: Place?
    }

    /// A DELETE with a body, as one contract has it.
    struct Close: OpenEndpoint {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.delete("/accounts/{id}", .noContent, in: .json)

        var id: ID
        var password: String

        func validate() throws(Problem) {
            guard !password.isEmpty else { throw Problem(.badRequest, "password required") }
        }
    }
}
