"""Prints the entries of a ZIP file as JSON, read by Python's zipfile; each with its content unless that is large."""

import json
import sys
import zipfile

archive = zipfile.ZipFile(sys.argv[1])
entries = []
for info in archive.infolist():
    entry = {
        "name": info.filename, "size": info.file_size, "date": list(info.date_time),
        "mode": info.external_attr >> 16, "offset": info.header_offset,
    }
    if info.file_size < 1 << 26:
        content = archive.read(info)
        try:
            entry["text"] = content.decode()
        except UnicodeDecodeError:
            entry["text"] = content.decode("latin-1")
    entries.append(entry)
print(json.dumps(entries))
