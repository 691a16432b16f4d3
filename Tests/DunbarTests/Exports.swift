@_exported import DunbarTestHost
