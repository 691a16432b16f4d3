import ContractExamples

/// The API of the operator's page as text, which knows nothing of the types: its description is made of it, and the tests hold
/// the server and the types to it.
package enum OperatorExamples {
    private static let suspension =
        #"{ "reason": "spam", "since": "2026-02-23T10:00:00Z", ? "until": "2026-03-02T10:00:00Z" }"#

    private static let person = #"""
        "api": "messenger", "id": "17", ? "name": "bob", ? "email": "bob@example.com", ? "verified": true,
        "created_at": "2026-02-23T10:00:00Z", ? "suspension": \#(suspension)
        """#

    private static let report = #"""
        "api": "messenger", "id": #3, "state": "open" | "acted" | "dismissed",
        "kind": "message" | "person" | "post" | "comment" | "entry", "thing": "99", ? "place": "5", ? "content": "rude",
        "reason": "insults", ? "details": "again", "created_at": "2026-02-23T10:00:00Z", ? "flagged_word": "rude",
        ? "closing": {
            "at": "2026-02-23T11:00:00Z", "by": "operator anna", "acts": ["remove"], "reason": "insults" },
        ? "reporter": { "id": "16", ? "name": "alice" }, ? "person": { "id": "17", ? "name": "bob" },
        "files": [{ "name": "a.jpg", "type": "image/jpeg", ? "size": 2048 }],
        "notes": [{ "at": "2026-02-23T10:30:00Z", "author": "operator ben", "text": "asked bob" }]
        """#

    private static let session = #"""
        {
            "name": "operator anna", "role": "all" | "moderate", "expires_at": "2026-02-23T22:00:00Z", "version": "0.1.0",
            "apis": [
                { "name": "messenger", "title": "Messenger", "has_passwords": true, "has_reports": true, "has_tokens": false }
            ]
        }
        """#

    private static let traffic = #"{ "requests": 120, "errors": 1, ? "p95": number 4.2 }"#

    private static let ofSession = #"""
        POST /sign-in open: Begins a session with the token of a link, and sets its cookie.
        > { "token": "kC4…" }
        < 200 \#(session)
        ! 401 This link was used, or is older than 15 minutes: run 'concord operator link' again

        GET /session: Returns the session.
        < 200 \#(session)
        ! 401 Sign in with a link: run 'concord operator link'

        POST /sign-out: Ends the session.
        > {}
        < 204
        """#

    private static let ofOverview = #"""
        GET /overview: Returns the state of the server.
        < 200 {
            "apis": [
                {
                    "name": "messenger", "title": "Messenger", "url": "http://127.0.0.1:8080", "unavailable": ["database"],
                    "ready": true, "sockets": 0, "emails_waiting": 0, "emails_failed": 0, "pushes_waiting": 0,
                    "pushes_failed": 0, ? "reports_open": 1, ? "oldest_report_at": "2026-02-23T10:00:00Z",
                    "hour": \#(traffic), "minutes": [\#(traffic)]
                }
            ],
            "minutes": [\#(traffic)], ? "disk": { "available": 40000000000, "size": 80000000000, "reserve": 1000000000 },
            "backup": {
                ? "place": "/var/backups", ? "newest_at": "2026-02-23T03:00:00Z", ? "size": 1048576, ? "problem": "full",
                "running": false, "done": 0, "total": 0
            },
            ? "certificate_expires_at": "2026-05-01T00:00:00Z", "warnings": 2
        }

        GET /problems: Returns what is wrong with the settings, as `concord config` finds it.
        < 200 ["no mail server is set"]
        ! 403 Your link gives the role moderate, and this needs the role all

        GET /audit: Returns the newest entries of the audit, the newest last.
        > /audit?last=20
        < 200 [
            {
                "id": #9, "time": "2026-02-23T10:00:00Z", "api": "messenger", "actor": "operator anna",
                "action": "people suspend", "subject": "user 17: spam"
            }
        ]
        ! 400 last must be 1 to 1000
        ! 403 Your link gives the role moderate, and this needs the role all

        POST /backups: Begins a backup at the place of the server's own backups.
        > {}
        < 202
        ! 403 Your link gives the role moderate, and this needs the role all
        ! 409 The server has no place for backups: start it with --backup-to

        POST /test-email: Sends a test e-mail.
        > { "address": "anna@example.com" }
        < 200 { "text": "The mail server has taken the e-mail" }
        ! 400 The address is not an e-mail address
        ! 403 Your link gives the role moderate, and this needs the role all
        ! 409 This server has no mail server
        """#

    private static let ofPeople = #"""
        GET /people: Finds people, as `concord people find` does.
        > /people?text=bob
        > /people?text=bob&api=messenger&limit=50
        < 200 [{ \#(person) }]
        ! 400 The text to look for is empty
        ! 400 limit must be 1 to 1000

        GET /people/{api}/{id}: Returns what is known of a person.
        > /people/messenger/17
        < 200 {
            \#(person), ? "last_seen_at": "2026-02-23T10:00:00Z",
            "sessions": [
                {
                    ? "device": "Bob's iPhone", ? "started_at": "2026-02-23T10:00:00Z",
                    ? "used_at": "2026-02-23T10:00:00Z", ? "address": "192.0.2.7"
                }
            ],
            ? "failed_sign_ins": 0, ? "accepted_terms": "2026-11", ? "storage_bytes": 2048,
            ? "reports": { "by": 0, "about": 1 },
            "acts": [
                {
                    "time": "2026-02-23T10:00:00Z", "actor": "operator anna", "action": "people suspend",
                    "subject": "user 17: spam"
                }
            ]
        }
        ! 404 There is no API 'nowhere'
        ! 409 There is no person 999999999 in Messenger

        POST /people/{api}/{id}/sign-out: Ends all sessions of a person.
        > /people/messenger/17/sign-out { "reason": "a lost phone" }
        < 200 { "api": "messenger", "id": "17", ? "name": "bob", ? "sessions": 1 }
        ! 400 The reason is empty
        ! 409 There is no person 999999999 in Messenger

        POST /people/{api}/{id}/reset-code: Makes a code for a new password, and returns it or sends it to the person's address.
        > /people/messenger/17/reset-code {}
        > /people/messenger/17/reset-code { "send": true }
        < 200 {
            "api": "messenger", "id": "17", ? "name": "bob", ? "email": "bob@example.com", ? "code": "kC4…",
            "expires_at": "2026-02-23T10:15:00Z"
        }
        ! 409 17 is suspended: a password cannot be reset until it is restored
        ! 409 There is no person 999999999 in Messenger

        POST /people/{api}/{id}/suspend: Suspends a person, until a time or until they are restored.
        > /people/messenger/17/suspend { "reason": "spam" }
        > /people/messenger/17/suspend { "until": "2026-03-02T10:00:00Z", "reason": "spam" }
        < 200 { "api": "messenger", "id": "17", ? "name": "bob", "suspension": \#(suspension) }
        ! 400 The reason is empty
        ! 409 17 is suspended already
        ! 409 There is no person 999999999 in Messenger

        POST /people/{api}/{id}/restore: Lifts a person's suspension.
        > /people/messenger/17/restore {}
        > /people/messenger/17/restore { "reason": "it was a mistake" }
        < 200 { "api": "messenger", "id": "17", ? "name": "bob" }
        ! 409 17 is not suspended
        ! 409 There is no person 999999999 in Messenger

        POST /people/{api}/{id}/remove-content: Removes what a person wrote where others see it.
        > /people/messenger/17/remove-content { "reason": "spam" }
        > /people/messenger/17/remove-content { "since": "2026-02-23T10:00:00Z", "reason": "spam" }
        < 200 { "api": "messenger", "id": "17", ? "name": "bob", "removed": 1 }
        ! 400 The reason is empty
        ! 409 --since is a time that is still to come
        ! 409 There is no person 999999999 in Messenger

        GET /people/{api}/{id}/export: Returns all that the server keeps of a person, as a ZIP file.
        > /people/messenger/17/export?reason=asked
        < 200 application/zip
        ! 400 The reason is empty
        ! 403 Your link gives the role moderate, and this needs the role all
        ! 409 There is no person 999999999 in Messenger

        POST /people/{api}/{id}/delete: Deletes a person with everything that belongs to them.
        > /people/messenger/17/delete { "reason": "asked" }
        < 200 { "api": "messenger", "id": "17", ? "name": "bob" }
        ! 400 The reason is empty
        ! 403 Your link gives the role moderate, and this needs the role all
        ! 409 There is no person 999999999 in Messenger
        """#

    private static let ofTokens = #"""
        GET /tokens/{api}: Returns the tokens of an account, which an operator has made.
        > /tokens/monica?account=alice
        < 200 [
            {
                "number": #4, "account": "alice", "name": "phone", "created_at": "2026-02-23T10:00:00Z",
                ? "last_used_at": "2026-02-23T11:00:00Z"
            }
        ]
        ! 403 Your link gives the role moderate, and this needs the role all
        ! 404 The people of 'nowhere' have no tokens that an operator makes

        POST /tokens/{api}: Makes a token of an account, and returns it this once.
        > /tokens/monica { "account": "alice", "name": "phone" }
        < 200 { "text": "kC4…" }
        ! 400 account and name must have 1 to 255 characters
        ! 403 Your link gives the role moderate, and this needs the role all

        POST /tokens/{api}/{number}/revoke: Revokes a token.
        > /tokens/monica/4/revoke {}
        < 204
        ! 403 Your link gives the role moderate, and this needs the role all
        ! 409 There is no token 4: see concord monica token list
        """#

    private static let ofReports = #"""
        GET /reports: Lists the reports of all APIs, the oldest first.
        > /reports?state=open&limit=100
        < 200 [{ \#(report) }]
        ! 400 state must be open, acted, dismissed or all
        ! 400 limit must be 1 to 1000

        GET /reports/{api}/{report}: Returns a report, with what was reported as it was then and as it is now.
        > /reports/messenger/3
        < 200 { \#(report), "present": null | "rude" }
        ! 409 There is no report 999999999 in Messenger

        GET /reports/{api}/{report}/files/{number}: Returns a file that a report keeps, from number 1: a picture or a film as such, another file as `application/octet-stream`.
        > /reports/messenger/3/files/1
        < 200 image/jpeg
        ! 409 Report 3 has 1 file
        ! 409 There is no report 999999999 in Messenger

        POST /reports/{api}/{report}/act: Removes what was reported, suspends or warns its author, and closes the report.
        > /reports/messenger/3/act { "acts": ["remove"], "reason": "insults" }
        > /reports/messenger/3/act { "acts": ["suspend"], "until": "2026-03-02T10:00:00Z", "reason": "insults" }
        < 200 { \#(report) }
        ! 400 acts must be of remove, suspend and warn
        ! 400 until is the end of a suspension
        ! 400 The reason is empty
        ! 409 Report 3 was closed by operator anna at 2026-02-23T11:00:00Z: acted
        ! 409 There is no report 999999999 in Messenger

        POST /reports/{api}/{report}/dismiss: Closes a report because nothing needs to be done.
        > /reports/messenger/3/dismiss {}
        > /reports/messenger/3/dismiss { "reason": "harmless" }
        < 200 { \#(report) }
        ! 409 Report 3 was closed by operator anna at 2026-02-23T11:00:00Z: acted
        ! 409 There is no report 999999999 in Messenger

        POST /reports/{api}/{report}/notes: Adds a note for other operators.
        > /reports/messenger/3/notes { "text": "asked bob" }
        < 200 { "text": "The note is on messenger report 3" }
        ! 400 The note is empty
        ! 409 There is no report 999999999 in Messenger
        """#

    private static let ofLog = #"""
        GET /log: Returns the newest lines of the log that are in memory and match.
        > /log?text=request&level=info&after=0&limit=200
        > /log?api=messenger&user=17
        < 200 { "newest": 9, "lines": [{ "number": #9, "level": "info", "text": "info request status=200" }] }
        ! 400 level is not one of a log
        ! 400 api and user name a person together
        ! 400 limit must be 1 to 1000
        ! 403 Your link gives the role moderate, and this needs the role all
        """#

    package static let all = Examples(
        ofSession, ofOverview, ofPeople, ofTokens, ofReports, ofLog, failure: #"{ "error": "Not found" }"#)
}
