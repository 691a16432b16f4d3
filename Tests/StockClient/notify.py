"""Prints what a service writes to its service manager's socket (sd_notify(3)), a line for each datagram.

Usage: notify.py PATH
"""
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(listener.recv(4096).decode().replace("\n", " "), flush=True)
