@_exported import GTSDTestHost
