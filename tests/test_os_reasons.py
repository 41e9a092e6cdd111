"""What the system says of files is said in the reader's language."""

from __future__ import annotations

import errno
import os

import pytest

from tui.i18n import translator
from tui.os_reasons import os_reason, os_sentence

EN, ZH = translator("en"), translator("zh")
COMMON = [
    errno.ENOENT,
    errno.EACCES,
    errno.EPERM,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ENOTEMPTY,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.EFBIG,
    errno.ELOOP,
    errno.EMFILE,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EIO,
    errno.ESTALE,
    errno.EBUSY,
    errno.ENOEXEC,
    errno.EPIPE,
    errno.EBADF,
    errno.EINVAL,
]


@pytest.mark.parametrize("number", COMMON, ids=errno.errorcode.__getitem__)
def test_a_common_reason_is_said_in_chinese(number: int) -> None:
    error = OSError(number, os.strerror(number), "/srv/moss")
    assert os_reason(EN, error) == error.strerror
    assert not os_reason(ZH, error).isascii()


def test_a_reason_that_is_not_known_stands_as_it_is() -> None:
    assert os_reason(ZH, "Level 3 halted") == "Level 3 halted"
    assert os_reason(EN, OSError()) == "OSError"


def test_a_sentence_names_the_file_or_what_stands_for_it() -> None:
    error = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/srv/moss")
    assert os_sentence(EN, error) == "/srv/moss: No such file or directory"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert os_sentence(ZH, full, "go.md") == "go.md：磁盘空间不足"
