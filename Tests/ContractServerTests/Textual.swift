import Contract
import ContractServer
import Foundation

/// An API with text ids, cookies for callers, an optional slash at the end of paths, and a check of file names.
enum Textual: ServiceAPI {
    static let name = "textual"
    static let captureForm = CaptureForm.text
    static let credentials = CredentialForm.cookie("session")
    static let ignoresTrailingSlash = true
    static let errorMessages = ErrorMessages()
    static let sections = [
        Section([GetNote.self, GetOwn.self, GetRefused.self, AddPicture.self])
    ]

    struct Failure: WireFailure {
        let message: String
        init(_ problem: Problem, requestID: String) { message = problem.message }
    }

    struct Note: Codable { var text: String }

    struct GetNote: OpenEndpoint {
        typealias API = Textual
        static let route = Route.get("/notes/{id}")
        typealias Output = Note
        var id: TextIdentifier<Note>
    }

    struct GetOwn: OpenEndpoint {
        typealias API = Textual
        static let route = Route.get("/notes/mine")
        typealias Output = Note
    }

    struct GetRefused: AuthenticatedEndpoint {
        typealias API = Textual
        static let route = Route.get("/refused")
        typealias Output = Note
    }

    struct AddPicture: OpenEndpoint {
        typealias API = Textual
        static let route = Route.post(
            "/pictures",
            in: .multipart(
                UploadRules(
                    field: "picture", maximumSize: 100, missing: "No file", unexpected: "Unexpected field",
                    tooLarge: "File too large")))
        typealias Output = Note
        var picture: Upload
    }

    static func table(spool: CountingSpool = CountingSpool()) -> Router<Textual> {
        var routes = Routes<Textual, String>(
            spool: spool, secrets: { [[]] }, name: { $0 },
            authenticate: { _ in throw Problem(.unauthorized, "Who are you?") })
        routes.open(use: { (request: GetNote, _) in Note(text: request.id.rawValue) })
        routes.open(use: { (_: GetOwn, _) in Note(text: "literal") })
        routes.on(use: { (_: GetRefused, _) in Note(text: "") })
        routes.open(use: { (request: AddPicture, _) in Note(text: request.picture.filename) })
        return Router(routes, options: .init(logger: LogBook().logger))
    }
}
