@_exported import MonicaTestHost
