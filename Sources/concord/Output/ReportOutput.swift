import ContractCheck
import Foundation
import NIOConcurrencyHelpers

/// Writes the report of a run to standard output, once: at the end, or when the run is interrupted.
final class ReportOutput: Sendable {
    private let format: Check.Format
    private let hasWritten = NIOLockedValueBox(false)
    private let hasFailed = NIOLockedValueBox(false)

    init(format: Check.Format) { self.format = format }

    func write(_ report: Report) {
        hasWritten.withLockedValue { hasWritten in
            guard !hasWritten else { return }
            hasWritten = true
            do {
                try FileHandle.standardOutput.write(contentsOf: Data(text(of: report).utf8))
            } catch {
                FileHandle.standardError.say("The report could not be written: \(reason(of: error))\n")
                hasFailed.withLockedValue { $0 = true }
            }
        }
    }

    /// Whether the report could not be written, because the disk is full or its reader has gone.
    var isLost: Bool { hasFailed.withLockedValue { $0 } }

    private func reason(of error: any Error) -> String {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        return cause.domain == NSPOSIXErrorDomain ? String(cString: strerror(Int32(cause.code))) : "\(error)"
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
