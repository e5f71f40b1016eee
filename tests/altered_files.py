"""Model files that someone has altered."""

import json
import zipfile
from hashlib import sha256

from gramshift.model.archive import HEAD


def rewrite(path, change):
    """The model file with another head, its checksum put right."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    head = json.loads(members[HEAD])
    change(head)
    members[HEAD] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = sha256(members[HEAD]).hexdigest().encode()
