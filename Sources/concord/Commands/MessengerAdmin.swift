import ArgumentParser
import Foundation
import MessengerAPI
import MessengerService

struct MessengerAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messenger",
        abstract: "Read what users of Messenger have reported.",
        discussion: """
            concord admin messenger --reports | jq

            A line of JSON for each report, oldest first: who reports whom or which message, and why. What a message said \
            is as it was then. The server may be running.
            """)

    @Flag(help: "Print the reports.")
    var reports = false

    @Option(help: ArgumentHelp("Only those behind this one.", valueName: "id"))
    var after: Int64 = 0

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard reports else { throw ValidationError("What? --reports") }
    }

    func run() async throws { try await place.perform(Work(after: after)) }

    struct Work: Operation {
        static let name = "admin messenger"
        static let api = OperatedAPI.messenger

        /// The report behind which the list begins.
        var after: Int64

        func run(in context: OperationContext) async throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var last = Messenger.Report.ID(after)
            while true {
                let page = try await MessengerService.reports(after: last, limit: 200, in: context.database)
                for report in page {
                    try await context.print(
                        Self.harmless(String(decoding: try encoder.encode(report), as: UTF8.self)))
                }
                guard let newest = page.last else { return }
                last = newest.id
            }
        }

        /// What users have written, with nothing in it that a terminal obeys: escaped, as JSON may be.
        private static func harmless(_ json: String) -> String {
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
