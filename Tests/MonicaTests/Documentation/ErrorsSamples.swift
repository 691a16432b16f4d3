import MonicaClient

// The samples of Errors.md.

enum ErrorsSamples {
    static func read(
        _ monica: MonicaAPIClient, id: Int, show: (String) -> Void, showSignIn: () -> Void
    ) async {
        // sample
        do {
            show(try await monica.getContact(id: id).data.completeName)
        } catch MonicaAPIError.invalidToken {
            showSignIn()
        } catch {
            show(error.localizedDescription)
        }
        // end
    }

    static func patient(_ configuration: APIConfiguration) -> MonicaAPIClient {
        // sample
        var patient = configuration
        patient.retryCount = 5
        patient.timeout = 30
        let monica = MonicaAPIClient(configuration: patient, backoff: Backoff(base: 0.5))
        // end
        return monica
    }
}
