@_exported import MessengerTestHost
