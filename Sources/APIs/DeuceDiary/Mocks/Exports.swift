@_exported import ContractMocks
@_exported import DeuceDiaryClient
