import Foundation

/// A script of `Tools` that runs servers until its standard input ends, so that they never outlive the tests.
public actor ToolServer {
    private let tool: String
    private let arguments: [String]
    private let environment: [String: String]
    private let mark: String
    private var running: (input: Input, ending: ProcessEnding)?

    /// - Parameters:
    ///   - environment: Variables beside those of the tests.
    ///   - mark: The words that it writes once its servers are ready.
    public init(
        _ tool: String, _ arguments: [String], environment: [String: String] = [:], readyAfter mark: String
    ) {
        self.tool = tool
        self.arguments = arguments
        self.environment = environment
        self.mark = mark
    }

    /// Starts the servers unless they run, and returns once they are ready.
    public func start() async throws {
        guard running == nil else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: StockTools.package + "/Tools/" + tool)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (input, output) = (Input(), Output())
        process.standardInput = input.end
        process.standardOutput = output.end
        process.standardError = output.end
        let ending = try ProcessEnding(running: process)
        input.begin()
        output.begin()
        running = (input, ending)
        for await text in output.texts where text.contains(mark) { return }
        throw Refused(description: output.text)
    }

    /// Ends the script's input, and waits until its servers have ended.
    public func stop() async {
        running?.input.finish()
        _ = await running?.ending.status
        running = nil
    }

    public struct Refused: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }
}
