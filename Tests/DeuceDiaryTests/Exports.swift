@_exported import DeuceDiaryTestHost
