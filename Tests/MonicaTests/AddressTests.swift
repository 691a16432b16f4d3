import Foundation
import MonicaClient
import Testing

/// The address of a server may be written in many forms.
@Suite(.timeLimit(.minutes(30))) struct AddressTests {
    @Test(arguments: [
        "monica.example.com", "https://monica.example.com", "https://monica.example.com/",
        "https://monica.example.com//", "https://monica.example.com/api", "https://monica.example.com/api/",
        " monica.example.com/api ",
    ])
    func aBaseURLIsAcceptedInAllForms(_ url: String) {
        let configuration = APIConfiguration.selfHosted(url: url, token: "t")
        #expect(configuration.baseURL.absoluteString == "https://monica.example.com/api")
        #expect(configuration.timeout == 10)
        #expect(configuration.retryCount == 3)
        #expect(APIConfiguration.cloud.baseURL.absoluteString == "https://app.monicahq.com/api")
        #expect(
            APIConfiguration.selfHosted(url: "http://localhost:8082", token: "t").baseURL.absoluteString
                == "http://localhost:8082/api")
    }

    @Test(arguments: ["https://monica.example.com", "https://monica.example.com/", "https://monica.example.com/api"])
    func aBaseURLIsAcceptedAsAURL(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(
            APIConfiguration.selfHosted(url: url, token: "t")
                == APIConfiguration(baseURL: try #require(URL(string: "https://monica.example.com/api")), token: "t"))
    }
}
