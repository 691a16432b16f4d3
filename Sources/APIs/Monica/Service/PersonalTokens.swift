import Backend
import Contract
import ContractServer
import Database
import Identity
import MonicaAPI

extension MonicaService {
    func personalTokens(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listTokens)
        routes.on(use: createToken)
        routes.on(use: revokeToken)
    }

    func listTokens(
        _ request: Monica.ListTokens, from caller: Caller
    ) async throws -> APIResponse<[Monica.PersonalToken]> {
        let now = time.milliseconds()
        return try await database.read { db in
            APIResponse(
                data: try db.all(
                    """
                    SELECT id, name, dialect, created_at, last_used_at, expires_at FROM tokens
                    WHERE account_id = \(caller.account) AND (expires_at IS NULL OR expires_at > \(now)) ORDER BY id
                    """
                ) { row in
                    Monica.PersonalToken(
                        id: try row.get(0), name: try row.get(1), dialect: .init(column: try row.get(2)),
                        isCurrent: try row.get(0, as: Int.self) == caller.token,
                        account: .init(id: caller.account.number), createdAt: try row.get(3),
                        lastUsedAt: try row.get(4), expiresAt: try row.get(5), text: nil)
                })
        }
    }

    func createToken(
        _ request: Monica.CreateToken, from caller: Caller
    ) async throws -> APIResponse<Monica.PersonalToken> {
        var input = FormReader(request.form)
        let name = input.text("name", required: true) ?? ""
        let dialect = input.text("dialect").map { Monica.TokenDialect(rawValue: $0) } ?? .contract
        if !Monica.TokenDialect.known.contains(dialect) { input.rejectSelection("dialect") }
        try input.check()
        let (text, now) = (RandomToken.make(), time.milliseconds())
        return try await database.write { db in
            try Accounts.lockCaller(caller.account, in: db)
            let count =
                try db.value(
                    "SELECT COUNT(*) FROM tokens WHERE account_id = \(caller.account)", as: Int.self) ?? 0
            guard count < Monica.CreateToken.maximumNumber else {
                throw Monica.Problems.tooMany("tokens", limit: Monica.CreateToken.maximumNumber)
            }
            let id: Int? = try db.insert(
                """
                INSERT INTO tokens (account_id, name, digest, created_at, dialect)
                VALUES (\(caller.account), \(name), \(Digest.sha256(text)), \(now), \(dialect.column))
                """)
            return APIResponse(
                data: Monica.PersonalToken(
                    id: id ?? 0, name: name, dialect: dialect, isCurrent: false,
                    account: .init(id: caller.account.number), createdAt: .init(milliseconds: now), lastUsedAt: nil,
                    expiresAt: nil, text: text))
        }
    }

    func revokeToken(_ request: Monica.RevokeToken, from caller: Caller) async throws -> Monica.Deletion {
        let digest: [UInt8]? = try await database.write { db in
            let condition: SQL = "id = \(request.id) AND account_id = \(caller.account)"
            let digest: [UInt8]? = try db.value("SELECT digest FROM tokens WHERE \(condition)")
            return try db.run("DELETE FROM tokens WHERE \(condition)") > 0 ? digest : nil
        }
        guard let digest else { throw Monica.Problems.notFound("token") }
        tokens.forget(digest)
        return .init(id: request.id)
    }
}
