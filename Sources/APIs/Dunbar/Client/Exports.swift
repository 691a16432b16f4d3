// One import is enough for an app. Of `Contract` and `ContractClient`, only the types that an app names are exported:
// `APIError` is the one of Dunbar's contract here.
@_exported import DunbarAPI
@_exported import HTTPTypes

@_exported import struct Contract.About
@_exported import struct Contract.Answer
@_exported import struct Contract.GetAbout
@_exported import struct Contract.Identifier
@_exported import struct Contract.Timestamp
@_exported import struct Contract.Upload
@_exported import protocol ContractClient.CookieStore
@_exported import class ContractClient.DurableOutbox
@_exported import struct ContractClient.FileCookieStore
@_exported import class ContractClient.MemoryCookieStore
@_exported import enum ContractClient.OutboxChange
@_exported import struct ContractClient.OutboxDamage
@_exported import struct ContractClient.OutboxFailure
@_exported import struct ContractClient.OutboxFile
@_exported import struct ContractClient.OutboxFull
@_exported import struct ContractClient.OutboxItem
@_exported import struct ContractClient.OutboxItemID
@_exported import struct ContractClient.OutboxLimits
@_exported import enum ContractClient.OutboxState
@_exported import struct ContractClient.Pages
@_exported import struct ContractClient.Retry
@_exported import struct ContractClient.StoredCookie
@_exported import protocol ContractClient.Transport
@_exported import struct ContractClient.TransportRequest
@_exported import struct ContractClient.TransportResponse
@_exported import struct ContractClient.URLSessionTransport
@_exported import typealias ContractClient.UploadProgress

#if canImport(Security)
@_exported import struct ContractClient.KeychainCookieStore
#endif
