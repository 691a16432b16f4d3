import Foundation
import Testing

@testable import DeuceDiaryClient

/// A token of another issuer may claim any time.
@Suite(.timeLimit(.minutes(30))) struct TokenTimesTests {
    @Test(arguments: [
        #"{"exp":1e308}"#, #"{"exp":-1e308}"#, #"{"exp":1e308,"iat":-1e308}"#, #"{"exp":0,"iat":9223372036854775807}"#,
        #"{"exp":9223372036854775807}"#,
    ])
    func aTokenWithAnOddTimeIsRenewed(_ claims: String) throws {
        let times = try #require(TokenTimes("h.\(Data(claims.utf8).base64EncodedString()).s"))
        #expect(Duration.seconds(1)...(.seconds(1e9)) ~= times.untilRenewal(at: 1_800_000_000))
    }
}
