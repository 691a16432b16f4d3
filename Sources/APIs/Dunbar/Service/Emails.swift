import Mail

/// The texts of the API's e-mails.
extension MailMessage {
    // The texts are plain ASCII, so that every mail program shows links and codes unbroken.

    static func verification(of address: String, link: String) -> MailMessage {
        MailMessage(
            from: "Dunbar", to: address, subject: "Verify your email address",
            text: """
                Welcome to Dunbar!

                Please verify your email address by opening this link:

                \(link)

                The link is good for 24 hours. If you did not register, you can ignore this message.
                """)
    }

    static func reset(of address: String, token: String) -> MailMessage {
        MailMessage(
            from: "Dunbar", to: address, subject: "Reset your password",
            text: """
                Somebody, probably you, asked to reset the password of your Dunbar account.

                Enter this code in the app, with your new password:

                \(token)

                The code is good for one hour, and once. You will be signed out everywhere. If it was not you, you can
                ignore this message: your password stays as it is.
                """)
    }
}
