import Database
import Foundation
import NIOPosix
import Testbed
import Testing

/// A database that closes waits for what it has accepted.
@Suite(.timeLimit(.minutes(30))) struct ClosingTests {
    /// An event loop hands in work when it has done what it is doing. Meanwhile another thread closes the database.
    @Test(arguments: Stack.Engine.available)
    func workThatIsNotYetWithAThreadIsDone(_ engine: Stack.Engine) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await withTestDatabase(on: engine) { place in
            for number in 0..<5 {
                let database = try place.open(notesSchema)
                let isAccepted = DispatchSemaphore(value: 0)
                let closing = Task.detached {
                    await withCheckedContinuation { continuation in
                        DispatchQueue.global().async {
                            isAccepted.wait()
                            continuation.resume()
                        }
                    }
                    try await database.close()
                }
                let (read, written) = try await group.next().submit {
                    let read = Task.immediate { try await database.read { try $0.exists("SELECT 1 FROM notes") } }
                    let written = Task.immediate {
                        try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("late \(number)"))") }
                    }
                    isAccepted.signal()
                    // Long enough for a database that does not wait to be closed.
                    usleep(100_000)
                    return (read, written)
                }.get()
                _ = try await read.value
                #expect(try await written.value == 1)
                try await closing.value
            }
        }
        try await group.shutdownGracefully()
    }
}
