import Contract
import HTTPTypes
import Testing

/// The fields of a request are read as RFC 9110 §5.3 has it.
@Suite(.timeLimit(.minutes(30))) struct FieldValueTests {
    @Test func aValueIsThatOfTheSubscript() {
        var fields: HTTPFields = [.accept: "text/html", .contentLength: "12"]
        fields.append(HTTPField(name: .accept, value: "application/json"))
        fields.append(HTTPField(name: .expect, value: ""))
        for name in [HTTPField.Name.accept, .contentLength, .expect, .authorization] {
            #expect(fields.value(of: name) == fields[name])
        }
        #expect(fields.value(of: .accept) == "text/html, application/json")
    }

    @Test(
        arguments: [
            ("Bearer abc.def", "abc.def"), ("bearer abc", "abc"), ("BEARER   abc", "abc"),
            ("Bearer abc def", "abc def"),
            ("Bearer", ""), ("Bearer ", ""), ("Bearer  ", ""), ("Basic abc", nil), ("Bearerabc", nil), ("", nil),
            (nil, nil),
        ] as [(String?, String?)])
    func aBearerTokenFollowsItsScheme(_ value: String?, _ token: String?) {
        var fields = HTTPFields()
        fields[.authorization] = value
        #expect(fields.bearerToken == token)
    }
}
