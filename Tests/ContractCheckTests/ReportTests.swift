import ContractCheck
import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite(.timeLimit(.minutes(30))) struct ReportTests {
    private let report = Report(
        api: "test", url: "http://test/?<&\"", level: .addition, seconds: 12.345,
        leftBehind: ["users": 3, "chats": 1],
        scenarios: [
            Verdict(name: "holds", clause: "GET /a", level: .contract, outcome: .passed, seconds: 0.1234),
            Verdict(
                name: "does <not> & \"never\"", clause: "GET /b", level: .addition, outcome: .failed, seconds: 2,
                failure: Failure(
                    message: ".id", expected: "a \u{1F600}", found: "a \u{0}\u{1B}\u{FFFF}\n]]>", place: "File.swift:5",
                    reproduce: ["curl -sSi 'http://test/a?b=1&c=2'", "# 200 <html>"])),
            Verdict(
                name: "was not tried", clause: "GET /b", level: .addition, outcome: .skipped, reason: "it's \"away\""),
        ])

    @Test func textHasAVerdictForEachClauseTheFailuresAndTheSum() {
        let lines = report.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.contains("ok      GET /a  1 passed"))
        #expect(lines.contains("BROKEN  GET /b  1 failed, 1 skipped"))
        #expect(lines.contains("1. does <not> & \"never\""))
        #expect(lines.contains("   expected: a \u{1F600}"))
        #expect(lines.contains("     curl -sSi 'http://test/a?b=1&c=2'"))
        #expect(lines.contains("Left on the server: 1 chats, 3 users."))
        #expect(lines.contains("1 skipped: it's \"away\"."))
        #expect(lines.contains("3 scenarios: 1 passed, 1 failed, 1 skipped, in 12.3 s"))
    }

    /// A run in which registration answers with another status: everything that needs an account stops there.
    private var stopped: Report {
        func failed(_ name: String, _ clause: String, _ found: String = "status 200") -> Verdict {
            Verdict(
                name: name, clause: clause, level: .contract, outcome: .failed,
                failure: Failure(
                    message: "POST /auth/register", expected: "status 201", found: found,
                    operation: "POST /auth/register", reproduce: ["curl -sSi http://test/auth/register"]))
        }
        var own = failed("alone", "GET /chats/{id}")
        own.failure?.operation = "GET /chats/{id}"
        own.failure?.message = "GET /chats/7"
        return Report(
            api: "test", url: "http://test", level: .addition,
            scenarios: [
                failed("a", "POST /auth/register"), failed("b", "GET /me"), failed("c", "GET /me"),
                failed("d", "GET /chats/{id}"), own,
                Verdict(name: "e", clause: "GET /health", level: .contract, outcome: .passed),
            ])
    }

    /// Each scenario has an account and a token of its own.
    @Test func namesAndTokensMakeNoCausesOfTheirOwn() {
        let verdicts = (0..<4).map { index in
            let token = "eyJ.aB_\(["Q", "r", "S_", "T-u"][index]).Zx9-VwKm_PqRsTuV\(index)"
            return Verdict(
                name: "\(index)", clause: "GET /me", level: .contract, outcome: .failed,
                failure: Failure(
                    message: "", expected: "an object", found: #"[{"id":\#(index),"token":"\#(token)"}]"#,
                    operation: "POST /auth/login", reproduce: []))
        }
        let report = Report(api: "test", url: "http://test", level: .addition, scenarios: verdicts)
        #expect(report.causes.map(\.scenarios.count) == [4])
    }

    @Test func failuresOfOneCauseAreOne() throws {
        let cause = try #require(stopped.causes.first)
        #expect(stopped.causes.count == 1 && cause.scenarios.map(\.name) == ["a", "b", "c", "d"])
        let lines = stopped.text.split(separator: "\n").map(String.init)
        #expect(lines.contains("BROKEN  POST /auth/register  1 failed"))
        #expect(lines.contains("-       GET /me              2 not tried"))
        #expect(lines.contains("BROKEN  GET /chats/{id}      1 failed, 1 not tried"))
        #expect(lines.contains("1. 4 scenarios stopped at POST /auth/register"))
        #expect(lines.contains("2. alone"))
        #expect(lines.contains(#"   They are of 3 clauses: "a", "b", "c" …"#))
        #expect(lines.filter { $0.contains("curl") }.count == 2)
        #expect(stopped.text.contains("6 scenarios: 1 passed, 5 failed, 0 skipped"))
        #expect(stopped.json.contains(#""not_tried" : 2"#))
    }

    @Test func markdownIsATableAndTheFailures() {
        let text = stopped.markdown
        #expect(text.contains("\n| GET /me | not tried | 2 not tried |\n"))
        #expect(text.contains("\n| POST /auth/register | **broken** | 1 failed |\n"))
        #expect(text.contains("\n### 4 scenarios stopped at POST /auth/register\n"))
        #expect(text.contains("\n```sh\ncurl -sSi http://test/auth/register\n```\n"))
        #expect(report.markdown.contains("\n1 skipped: it's \"away\".\n"))
        #expect(report.markdown.contains("\nLeft on the server: 1 chats, 3 users.\n"))
        #expect(report.markdown.contains("### does &lt;not> &amp; \"never\""))
    }

    @Test func jsonHoldsEverything() throws {
        let decoded = try JSONDecoder().decode(Report.self, from: Data(report.json.utf8))
        #expect(decoded.json == report.json)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
        #expect(object["failed"] as? Int == 1)
        #expect((object["clauses"] as? [[String: Any]])?.map { $0["outcome"] as? String } == ["passed", "failed"])
    }

    /// The report has the form that common tools read: counts on the suite, a case for each scenario, and intact texts.
    @Test func junitIsXMLWithTheSameCountsAndTexts() throws {
        let elements = Elements()
        let parser = XMLParser(data: Data(report.junit.utf8))
        parser.delegate = elements
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
        #expect(elements.found.prefix(2).map(\.name) == ["testsuites", "testsuite"])
        for suite in elements.found.prefix(2) {
            #expect(suite.attributes["tests"] == "3")
            #expect(suite.attributes["failures"] == "1")
            #expect(suite.attributes["errors"] == "0")
            #expect(suite.attributes["skipped"] == "1")
            #expect(suite.attributes["time"] == "12.345")
        }
        #expect(elements.found.first { $0.name == "property" }?.attributes["value"] == "http://test/?<&\"")
        let cases = elements.found.filter { $0.name == "testcase" }
        #expect(cases.map { $0.attributes["name"] } == report.scenarios.map(\.name))
        #expect(cases.map { $0.attributes["classname"] } == ["test GET /a", "test GET /b", "test GET /b"])
        #expect(cases.map { $0.attributes["time"] } == ["0.123", "2.000", "0.000"])
        let failure = try #require(elements.found.first { $0.name == "failure" })
        // Characters that XML does not allow are replaced.
        #expect(failure.attributes["message"] == ".id: expected a \u{1F600}, found a \u{FFFD}\u{FFFD}\u{FFFD}\n]]>")
        #expect(failure.text == "File.swift:5\ncurl -sSi 'http://test/a?b=1&c=2'\n# 200 <html>")
        #expect(elements.found.first { $0.name == "skipped" }?.attributes["message"] == "it's \"away\"")
    }

    private final class Elements: NSObject, XMLParserDelegate {
        struct Element {
            let name: String
            let attributes: [String: String]
            var text = ""
        }

        var found: [Element] = []
        private var open: [Int] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(found.count)
            found.append(Element(name: name, attributes: attributes))
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) { open.removeLast() }

        func parser(_ parser: XMLParser, foundCharacters text: String) { found[open[open.count - 1]].text += text }
    }
}
