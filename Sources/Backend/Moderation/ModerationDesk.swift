import Database
import ObjectStore

/// What operators do with what the people of one API wrote where others see it: how it is shown, copied and removed
/// (`concord reports`, `concord people remove-content`). An API without a public side has none.
public protocol ModerationDesk: PeopleDesk {
    /// The store of the files that reports keep.
    var reportedFiles: any ObjectStore { get }
    /// What people write, in the order in which an operator's command removes it.
    var writtenKinds: [ReportedKind] { get }

    /// Returns the present text of a thing; nil when it is no longer there.
    func text(of kind: ReportedKind, _ id: String, in db: Session) throws -> String?
    /// Returns some of the things that people wrote between two times, in an order that later calls go on with.
    ///
    /// - Parameter last: The last thing of the call before.
    func written(
        _ kind: ReportedKind, by people: [Table.ID], between times: ClosedRange<Int64>, behind last: WrittenThing?,
        limit: Int, in db: Session
    ) throws -> [WrittenThing]
    /// Removes things of one kind, as their authors do who delete them. It takes the locks.
    func remove(_ kind: ReportedKind, _ things: [WrittenThing], at now: Int64, in db: Session) throws -> Removal
    /// Sends an e-mail to the address of a person, if the transaction commits.
    ///
    /// - Returns: False where the API has no address that is verified, or sends no e-mails.
    func send(_ letter: ModerationLetter, to person: Table.ID, at now: Int64, in db: Session) throws -> Bool
}

/// The outcome of a removal.
public struct Removal: Sendable {
    /// The things that were there.
    public var things: [WrittenThing]
    /// Does the rest once the transaction is durable, such as removing files.
    public var finish: @Sendable () async -> Void

    public init(_ things: [WrittenThing], finish: @escaping @Sendable () async -> Void = {}) {
        self.things = things
        self.finish = finish
    }
}

/// An e-mail about a report. The texts are plain sentences; the reason is the operator's.
public enum ModerationLetter: Sendable {
    /// To who reported: something was done.
    case acted
    /// To who is warned.
    case warning(reason: String)

    public var subject: String {
        switch self {
        case .acted: "Your report was acted on"
        case .warning: "A warning"
        }
    }

    /// Returns the text of the letter.
    ///
    /// - Parameter api: The API's title.
    public func text(of api: String) -> String {
        switch self {
        case .acted:
            """
            You reported somebody, or what somebody wrote, in \(api). We have looked at it and acted on it.

            Thank you: your report helps everyone who uses \(api).
            """
        case .warning(let reason):
            """
            Something that you wrote or did in \(api) was reported to us. We have looked at it, and warn you:

            \(reason)

            If it goes on, your account may be suspended.
            """
        }
    }
}
