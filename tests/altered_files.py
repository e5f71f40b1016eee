"""Model files that someone has altered."""

import json
import zipfile

from gramshift.model.archive import HEAD, checksum


def read_members(path):
    """Return the bytes of each member of a model file by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members, *, compress=zipfile.ZIP_STORED, comment=None):
    """Write a model file of these members.

    Its checksum fits, unless another ``comment`` is given.
    """
    with zipfile.ZipFile(path, "w", compress) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress)
        archive.comment = checksum(members) if comment is None else comment
    return path


def rewrite(path, change):
    """Change the head of a model file, and correct its checksum."""
    members = read_members(path)
    head = json.loads(members[HEAD])
    change(head)
    write_members(path, members | {HEAD: json.dumps(head).encode()})
