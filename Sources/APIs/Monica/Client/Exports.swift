// One import is enough for an app. Of `Contract` only what an app names: its other names (`Empty`, `Route`) would stand
// beside those of the app's own frameworks.
@_exported import ContractClient
@_exported import HTTPTypes
@_exported import MonicaAPI

@_exported import struct Contract.Answer
@_exported import struct Contract.Day
@_exported import struct Contract.Problem
@_exported import struct Contract.Timestamp
