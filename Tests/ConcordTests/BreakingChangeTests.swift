import Foundation
import Testbed
import Testing

/// `Tools/check-breaking` finds what breaks a client, in a repository that the test makes.
@Suite(.timeLimit(.minutes(30))) struct BreakingChangeTests {
    /// A document with one operation and a schema of each kind.
    private static let before = """
        {
          "paths": { "/notes/{id}": { "put": {
            "operationId": "changeNote", "security": [],
            "parameters": [{ "name": "limit", "in": "query", "required": false, "schema": { "type": "integer" } }],
            "requestBody": { "required": false, "content": { "application/json": { "schema": { "type": "object",
              "required": ["text"],
              "properties": { "text": { "type": "string", "maxLength": 9 }, "kind": { "enum": ["a", "b"] } } } } } },
            "responses": {
              "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Note" } } } },
              "404": { "description": "Not Found" } }
          } } },
          "components": { "schemas": { "Note": { "type": "object", "required": ["id", "text"],
            "properties": { "id": { "type": "integer" }, "text": { "type": ["string", "null"] },
              "tags": { "type": "array", "items": { "type": "string" } } } } } }
        }
        """

    /// A change of the document, and what is said of it; nothing for one that breaks no client.
    struct Change: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let finding: String?
        var testDescription: String { finding ?? "allowed: \(new)" }

        init(_ old: String, _ new: String, _ finding: String? = nil) {
            (self.old, self.new, self.finding) = (old, new, finding)
        }
    }

    static let changes = [
        Change(#""put""#, #""post""#, "PUT /notes/{id}: is gone"),
        Change(#""changeNote""#, #""editNote""#, "is named editNote"),
        Change(#""security": [],"#, "", "needs credentials"),
        Change(
            #""required": false, "schema": { "type": "integer" }"#,
            #""required": true, "schema": { "type": "integer" }"#, "the parameter limit is required"),
        Change(#""name": "limit""#, #""name": "count""#, "the parameter limit is gone"),
        Change(#""required": false, "content""#, #""required": true, "content""#, "a body is required"),
        Change(#""required": ["text"],"#, #""required": ["text", "kind"],"#, "kind of the request is required"),
        Change(#""maxLength": 9"#, #""maxLength": 8"#, "has maxLength 8, and had 9"),
        Change(#"["a", "b"]"#, #"["a"]"#, "takes fewer values"),
        Change(#""404": "#, #""410": "#, "the status 404 is gone"),
        Change(#""id": { "type": "integer" }, "#, "", "id of the answer 200 is gone"),
        Change(#""id": { "type": "integer" }"#, #""id": { "type": "string" }"#, "is string, and was integer"),
        Change(#""required": ["id", "text"]"#, #""required": ["id"]"#, "text of the answer 200 may be absent"),
        Change(#""items": { "type": "string" }"#, #""items": { "type": ["string", "null"] }"#, "is null or string"),
        Change(#"["a", "b"]"#, #"["a", "b", "c"]"#),
        Change(#""maxLength": 9"#, #""maxLength": 10"#),
        Change(#"{ "type": ["string", "null"] }"#, #"{ "type": "string" }"#),
        Change(#""404": "#, #""404": {}, "409": "#),
        Change(#""required": ["text"],"#, ""),
    ]

    @Test(.enabled(if: StockTools.python != nil, "`make test` installs Python"), arguments: changes)
    func aChangeIsJudged(_ change: Change) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/docs/openapi/notes.json"
            try await commit(Self.before, to: path, in: folder)
            let after = Self.before.replacing(change.old, with: change.new, maxReplacements: 1)
            #expect(after != Self.before)
            try after.write(toFile: path, atomically: true, encoding: .utf8)
            let found = try await check(folder)
            guard let finding = change.finding else { return #expect(found.status == 0, "\(found.output)") }
            #expect(found.status == 1)
            #expect(found.output.contains(finding), "\(found.output)")
            // The changelog says so, of this operation and of another one.
            for (name, status) in [("PUT /notes/{id}", 0), ("PUT /notes/{id}/tags", 1)] {
                try TestRepository(folder).excuse(name)
                #expect(try await check(folder).status == status)
            }
        }
    }

    @Test(.enabled(if: StockTools.python != nil, "`make test` installs Python"))
    func aTagIsComparedWithAndAnUnchangedDocumentWithTheCommitBefore() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/docs/openapi/notes.json"
            try await commit(Self.before, to: path, in: folder)
            try await commit(Self.before.replacing(#""put""#, with: #""post""#), to: path, in: folder)
            // Committed already: the commit before is what clients know.
            #expect(try await check(folder).status == 1)
            try await git(["tag", "v1"], in: folder)
            #expect(try await check(folder).status == 0)
        }
    }

    private func commit(_ text: String, to path: String, in folder: String) async throws {
        try await TestRepository(folder).commit(text, to: path)
    }

    private func git(_ arguments: [String], in folder: String) async throws {
        try await TestRepository(folder).git(arguments)
    }

    private func check(_ folder: String) async throws -> (status: Int32, output: String) {
        try await TestRepository(folder).run("check-breaking")
    }
}
