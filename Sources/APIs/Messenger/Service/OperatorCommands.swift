import Backend
import Database
import Foundation
import MessengerAPI

extension MessengerService {
    /// Prints what users have reported: a line of JSON for each report, the oldest first.
    public struct PrintReports: OperatorCommand {
        public static let name = "admin messenger"

        /// The id of the report after which the list begins.
        var after: Int64

        public init(after: Int64) { self.after = after }

        public func run(in context: OperatorContext) async throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var last = Messenger.Report.ID(after)
            while true {
                let page = try await MessengerService.reports(after: last, limit: 200, in: context.database)
                for report in page {
                    try await context.print(
                        Self.escaped(String(decoding: try encoder.encode(report), as: UTF8.self)))
                }
                guard let newest = page.last else { return }
                last = newest.id
            }
        }

        /// Returns JSON in which control characters are escaped, because users' texts could otherwise control the
        /// terminal.
        private static func escaped(_ json: String) -> String {
            json.unicodeScalars.reduce(into: "") { text, scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator:
                    for unit in String(scalar).utf16 {
                        let digits = String(unit, radix: 16)
                        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
