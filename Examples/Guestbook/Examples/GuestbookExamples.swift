import ContractExamples

/// The contract's requests and answers as text, which knows nothing of the types.
public enum GuestbookExamples {
    static let tokens = #"{ "accessToken": "eyJ…", "refreshToken": "kC4…", "expiresIn": = 3600, "user": #1 }"#
    static let entry = #"""
        { "id": #7, "author": { "id": #1, "name": "anna" }, "text": "Lovely!", "createdAt": "2026-02-23T10:00:00Z" }
        """#

    public static let all = Examples(
        #"""
        POST /sessions open
        > { "name": "anna", "password": "open sesame" }
        < 200 \#(tokens)

        POST /sessions/refresh open
        > { "refreshToken": "kC4…" }
        < 200 \#(tokens)

        POST /sessions/end open
        > { "refreshToken": "kC4…" }
        < 204

        POST /users open key
        > { "name": "anna", "password": "open sesame" }
        < 201 { "id": #1, "name": "anna" }

        POST /entries key
        > { "text": "Lovely!" }
        < 201 \#(entry)

        GET /entries open
        > /entries?limit=20&before=8
        < 200 [\#(entry)]

        DELETE /entries/{id}
        > /entries/7
        < 204

        SOCKET /live
        < { "type": = "added", "element": \#(entry) }
        """#, failure: #"{ "error": "Not found" }"#)
}
