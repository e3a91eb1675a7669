"""ZIP archives as inspect writes them: members stored, deflated or compressed with zstd."""

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

STORED, DEFLATED, ZSTD = 0, 8, 93


def write_archive(path: Path, members: Mapping[str, bytes], method: int) -> None:
    """Write a ZIP by hand: the standard library of Python 3.11 does not support zstd."""
    body, directory = b"", b""
    for name, content in members.items():
        packed = _packed(content, method)
        sizes = struct.pack("<III", zlib.crc32(content), len(packed), len(content))
        head = struct.pack("<HHHHH", 20, 0, method, 0, 33) + sizes
        title = name.encode()
        extra = b"\x99\x99\x02\x00hi"  # an extra field in the local header only
        local = b"PK\x03\x04" + head + struct.pack("<HH", len(title), len(extra)) + title + extra
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 20) + head
            + struct.pack("<HHHHHII", len(title), 0, 0, 0, 0, 0, len(body)) + title
        )  # fmt: skip
        body += local + packed
    count = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)


def _packed(content: bytes, method: int) -> bytes:
    if method == DEFLATED:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(content) + packer.flush()
    if method == ZSTD:
        import zstandard

        return zstandard.ZstdCompressor().compress(content)
    return content
