import ContractCheck
import Foundation
import NIOConcurrencyHelpers

/// Writes the report of a run to standard output, once: at the end, or when the run is interrupted.
final class ReportOutput: Sendable {
    private let format: Check.Format
    private let hasWritten = NIOLockedValueBox(false)

    init(format: Check.Format) { self.format = format }

    func write(_ report: Report) {
        hasWritten.withLockedValue { hasWritten in
            guard !hasWritten else { return }
            hasWritten = true
            FileHandle.standardOutput.write(Data(text(of: report).utf8))
        }
    }

    private func text(of report: Report) -> String {
        switch format {
        case .text: report.text
        case .json: report.json
        case .junit: report.junit
        case .markdown: report.markdown
        }
    }
}
