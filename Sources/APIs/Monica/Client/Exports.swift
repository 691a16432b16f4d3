// One import is enough for an app. Of `Contract`, only the types that an app names are exported: others (`Empty`,
// `Route`) could collide with those of the app's own frameworks.
@_exported import ContractClient
@_exported import HTTPTypes
@_exported import MonicaAPI

@_exported import struct Contract.About
@_exported import struct Contract.Answer
@_exported import struct Contract.Day
@_exported import struct Contract.GetAbout
@_exported import struct Contract.Problem
@_exported import struct Contract.Timestamp
@_exported import struct Contract.Upload

extension Monica {
    /// The SDK's error, by a name like those of the other SDKs.
    public typealias APIError = MonicaAPIError
}
