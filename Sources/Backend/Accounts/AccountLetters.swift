import Mail

/// The texts of the e-mails about accounts that all APIs send.
extension MailMessage {
    // The texts are plain ASCII, so that every mail program shows links and codes unbroken.

    static func reset(passwordOf api: String, to address: String, token: String) -> MailMessage {
        MailMessage(
            from: api, to: address, subject: "Reset your password",
            text: """
                Somebody, probably you, asked to reset the password of your \(api) account.

                Enter this code in the app, with your new password:

                \(token)

                The code is good for one hour, and once. You will be signed out everywhere. If it was not you, you can
                ignore this message: your password stays as it is.
                """)
    }

    static func help(withPasswordOf api: String, to address: String, token: String) -> MailMessage {
        MailMessage(
            from: api, to: address, subject: "Reset your password",
            text: """
                This is to help you to a new password for your \(api) account.

                Enter this code in the app, where it asks for the code of a forgotten password:

                \(token)

                The code is good for 15 minutes, and once. You will be signed out everywhere. If you did not ask for
                help, you can ignore this message: your password stays as it is.
                """)
    }

    static func change(addressOf api: String, to address: String, token: String) -> MailMessage {
        MailMessage(
            from: api, to: address, subject: "Confirm your email address",
            text: """
                This is to become the email address of your \(api) account.

                Enter this code in the app:

                \(token)

                The code is good for 24 hours, and once. If you did not ask for it, you can ignore this message.
                """)
    }

    static func notice(ofChangeIn api: String, to address: String) -> MailMessage {
        MailMessage(
            from: api, to: address, subject: "Another email address for your account",
            text: """
                Somebody, probably you, asked for another email address for your \(api) account, with your password.

                It counts as soon as it is confirmed by a message to it. If it was not you, change your password in
                the app, or have it reset: that ends the request.
                """)
    }
}
