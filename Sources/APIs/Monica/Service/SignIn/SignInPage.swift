import Backend
import Contract
import ContractServer
import HTTPTypes

/// The page at which a person signs in to an app.
enum SignInPage {
    /// The maximum length of an app's `state` in bytes.
    static let longestState = 1024
    /// The fields that the form sends again.
    private static let kept = [
        "client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method",
    ]

    /// Returns the page.
    ///
    /// - Parameter mistake: What was wrong with the person's last attempt.
    static func page(for app: SignInApp, _ request: FormRequest, mistake: String?) -> Answer<Empty> {
        let notice = mistake.map { text -> HTML in #"<p role="alert" id="mistake">\#(text)</p>"# } ?? ""
        let described: HTML = mistake == nil ? "" : #" aria-describedby="mistake" aria-invalid="true""#
        return WebPage(
            "Sign in",
            content: """
                <h1>Sign in to <bdi>\(app.name)</bdi></h1>
                <p>The app will read and change everything in your account, until you or the operator of this server \
                revoke its token.</p>
                \(notice)
                <form method="post" action="authorize">\(fields(of: request))
                <label for="secret">A token of your account, or a code from the operator of this server</label>
                <input id="secret" name="secret" type="password" autocomplete="off" autocapitalize="off" \
                spellcheck="false" maxlength="255" autofocus\(described)>
                <button class="main">Sign in</button>
                <button name="cancel" value="1">Cancel</button>
                </form>
                """,
            formsLeadTo: app.redirect
        ).answer(mistake == nil ? .ok : .unprocessableContent)
    }

    private static func fields(of request: FormRequest) -> HTML {
        kept.reduce("") { fields, name in
            guard let value = request[name] else { return fields }
            return #"\#(fields)<input type="hidden" name="\#(name)" value="\#(value)">"#
        }
    }

    /// Returns a page that says why a person cannot sign in. It leads nowhere: the address that the app gave may be another's.
    static func failure(_ text: String, _ status: HTTPResponse.Status = .badRequest) -> Answer<Empty> {
        WebPage("Sign in", content: "<h1>This does not work</h1>\n<p>\(text)</p>").answer(status)
    }
}
