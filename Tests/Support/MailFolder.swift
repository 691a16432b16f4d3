import Foundation

/// Returns the texts of the e-mails to an address that a server has written into a folder, in the order of their times.
public func emails(in folder: String, to address: String) throws -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
    return try names.filter { $0.hasSuffix(".eml") }.sorted().compactMap { name in
        let email = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            .replacingOccurrences(of: "\r\n", with: "\n")
        guard email.split(separator: "\n").contains(where: { $0 == "To: \(address)" || $0 == "To: <\(address)>" })
        else {
            return nil
        }
        return email
    }
}
