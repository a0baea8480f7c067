# SPDX-License-Identifier: GPL-2.0
"""Exports a disk image to the host that has the largest fencing token, and to no other: a plug-in
of nbdkit(1) for the host that has the image.

    nbdkit python fenced-image.py image=/srv/data.img

The name of the export is the token: "nbd-client -N $BFTMUTEX_TOKEN". From the moment that a
larger token comes, each request of a connection with a smaller one fails."""
import os
import pathlib

import nbdkit

API_VERSION = 2
image, note, disk, largest = None, None, -1, 0


def thread_model():
    """One request at a time: nothing comes between the comparison of a token and the write."""
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def config(key, value):
    global image, note
    if key != "image":
        raise ValueError("%s=: must be image=FILE" % key)
    image, note = os.path.abspath(value), os.path.abspath(value) + ".token"


def get_ready():
    global disk, largest
    disk = os.open(image, os.O_RDWR)
    if os.path.exists(note):
        largest = int(pathlib.Path(note).read_text(encoding="ascii"))


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def keep(token):
    """The largest token is to be there after a restart too, before anything is written by it."""
    global largest
    pathlib.Path(note + ".new").write_text("%d\n" % token, encoding="ascii")
    sync(note + ".new")
    os.rename(note + ".new", note)
    sync(os.path.dirname(note))
    largest = token


def check(token):
    if token < largest:
        raise PermissionError("fencing token %d is stale: %d was seen" % (token, largest))


def open(readonly):
    name = nbdkit.export_name()
    if not name.isdigit():
        raise ValueError("export '%s': must be a fencing token" % name)
    check(int(name))
    if int(name) > largest:
        keep(int(name))
    return int(name)


def get_size(token):
    return os.stat(image).st_size


def pread(token, buf, offset, flags):
    check(token)
    if os.preadv(disk, [buf], offset) != len(buf):
        raise OSError("%s: read less than %d bytes at %d" % (image, len(buf), offset))


def pwrite(token, buf, offset, flags):
    check(token)
    if os.pwrite(disk, buf, offset) != len(buf):
        raise OSError("%s: wrote less than %d bytes at %d" % (image, len(buf), offset))


def flush(token, flags):
    check(token)
    os.fdatasync(disk)
