// One import is enough for an app. Of `Contract`, only the types that an app names are exported: others (`Empty`,
// `Route`, `Day`) could collide with those of the app's own frameworks.
@_exported import ContractClient
@_exported import HTTPTypes
@_exported import MessengerAPI

@_exported import struct Contract.About
@_exported import struct Contract.Answer
@_exported import struct Contract.GetAbout
@_exported import struct Contract.Identifier
@_exported import struct Contract.Problem
@_exported import struct Contract.Timestamp
@_exported import struct Contract.UnknownFrame
@_exported import struct Contract.Upload

extension Messenger {
    /// The error of a refusal, by a name that no other SDK has: for files that import several of them.
    public typealias APIError = ContractClient.APIError
}
