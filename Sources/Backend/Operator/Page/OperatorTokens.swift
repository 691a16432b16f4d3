import Contract
import ContractServer
import Foundation

extension OperatorAPI {
    static let tokens = Section("Tokens", [ListTokens.self, CreateToken.self, RevokeToken.self])

    /// `GET /tokens/{api}` returns the tokens of an account, which an operator has made.
    struct ListTokens: Operation {
        typealias Output = [IssuedToken]
        static let route = Route.get("/tokens/{api}")
        let api: String
        /// The account's name.
        let account: String
    }

    /// `POST /tokens/{api}` makes a token of an account, and returns it this once.
    struct CreateToken: Operation {
        typealias Output = Said
        static let route = Route.post("/tokens/{api}")
        let api: String
        let account: String
        /// The name that distinguishes the account's tokens.
        let name: String

        func validate() throws(Problem) {
            let isShort = [account, name].allSatisfy { 1...255 ~= $0.unicodeScalars.count }
            try Problem.require(isShort, "account and name must have 1 to 255 characters")
        }
    }

    /// `POST /tokens/{api}/{number}/revoke` revokes a token.
    struct RevokeToken: Operation {
        typealias Output = Empty
        static let route = Route.post("/tokens/{api}/{number}/revoke", .noContent)
        let api: String
        let number: Int
    }
}

extension OperatorDesk {
    /// The routes of tokens.
    func tokens(_ routes: inout Routes<OperatorAPI, OperatorSession>) {
        routes.on(answering: { (request: OperatorAPI.ListTokens, session, _) in
            let command = try commands(onTokensOf: request.api).listing(of: request.account)
            return Answer(.ok, encoded: try await perform(command, of: request.api, for: session).array)
        })
        routes.on(use: { (request: OperatorAPI.CreateToken, session) in
            let command = try commands(onTokensOf: request.api).creating(request.name, of: request.account)
            let token = try await perform(command, of: request.api, for: session).text
            return OperatorAPI.Said(text: token.trimmingCharacters(in: .newlines))
        })
        routes.on(use: { (request: OperatorAPI.RevokeToken, session) in
            let command = try commands(onTokensOf: request.api).revoking(request.number)
            _ = try await perform(command, of: request.api, for: session)
            return Empty()
        })
    }

    private func commands(onTokensOf api: String) throws -> any TokenCommands {
        guard let commands = commands.known.first(where: { $0.name == api })?.tokenCommands else {
            throw Problem(.notFound, "The people of '\(api.prefix(100))' have no tokens that an operator makes")
        }
        return commands
    }
}
