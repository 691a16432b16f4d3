import Foundation
import MonicaMocks

func showContacts() async throws {
    let monica = MonicaMock().client()
    do {
        for try await contact in monica.contacts(matching: "john") { print(contact.id, contact.completeName) }
        print(try await monica.getContact(id: 2).data.completeName)
    } catch let error as MonicaAPIError {
        print(error.localizedDescription)
    }
}
