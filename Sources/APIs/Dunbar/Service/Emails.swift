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

    static func change(to address: String, link: String) -> MailMessage {
        MailMessage(
            from: "Dunbar", to: address, subject: "Verify your new email address",
            text: """
                This is to become the email address of your Dunbar account.

                Please confirm that by opening this link:

                \(link)

                The link is good for 24 hours, and once. If you did not ask for it, you can ignore this message.
                """)
    }
}
