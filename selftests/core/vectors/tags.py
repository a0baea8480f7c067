# SPDX-License-Identifier: GPL-2.0
"""Tags of datagrams, and the keys they are made with."""
import hashlib
import struct

MAX64 = 2**64 - 1


def rotated(word, by):
    return (word << by | word >> (64 - by)) & MAX64


def rounds(v, count):
    a, b, c, d = v
    for _ in range(count):
        a = (a + b) & MAX64
        b = rotated(b, 13) ^ a
        a = rotated(a, 32)
        c = (c + d) & MAX64
        d = rotated(d, 16) ^ c
        a = (a + d) & MAX64
        d = rotated(d, 21) ^ a
        c = (c + b) & MAX64
        b = rotated(b, 17) ^ c
        c = rotated(c, 32)
    return [a, b, c, d]


def siphash128(key, data):
    """SipHash-2-4 with 128 bits."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [0x736f6d6570736575 ^ k0, 0x646f72616e646f6d ^ k1 ^ 0xee, 0x6c7967656e657261 ^ k0,
         0x7465646279746573 ^ k1]
    whole = len(data) // 8 * 8
    padded = data[:whole] + data[whole:].ljust(7, b"\0") + bytes([len(data) & 255])
    for word, in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        v = rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xee
    v = rounds(v, 4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xdd
    v = rounds(v, 4)
    return struct.pack("<QQ", low, v[0] ^ v[1] ^ v[2] ^ v[3])


def derive(master, cluster, server, client):
    """The keys that a client shares with a server: of its requests, and of what it is sent."""
    said = b"bftmutex client\0" + struct.pack("<IHHI", cluster, server, 0, client)
    both = hashlib.blake2s(said, key=master, digest_size=32).digest()
    return both[:16], both[16:]
