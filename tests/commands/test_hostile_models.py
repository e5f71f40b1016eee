"""Models that are not regular files."""

import os

import pytest

from conftest import posix
from gramshift.commands.info import describe_model
from gramshift.errors import InputError


@posix
def test_models_are_regular_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(InputError, match=f"{path} is a .*; it should be a regular file"):
            describe_model(path)
