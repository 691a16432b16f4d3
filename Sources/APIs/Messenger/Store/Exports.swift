// One import is enough for an app.
@_exported import MessengerClient
