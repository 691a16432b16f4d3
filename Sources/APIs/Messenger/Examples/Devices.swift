extension MessengerExamples {
    package static let device = #"{ "id": #7, "token": "0a1b2c3d4e5f", "environment": "production" | "sandbox" }"#

    static let devices = #"""
        POST /devices key addition: Registers this device for push notifications.
        > { "token": "0a1b2c3d4e5f", "environment": "production" }
        > { "token": "0A1B2C3D4E5F", "environment": "sandbox" }
        < 201 \#(device)
        < 200 \#(device)
        ! 400 token must be 2 to 200 hexadecimal digits
        ! 400 environment must be 'production' or 'sandbox'

        DELETE /devices/{id} addition: Removes a device, which is no longer notified.
        > /devices/7
        < 204
        ! 404 Device not found
        """#
}
