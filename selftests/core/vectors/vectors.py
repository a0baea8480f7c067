#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One datagram of each type, with keys, as a test of other implementations.

  vectors.py            prints them, as they are in vectors.txt
  vectors.py pcap FILE  writes them as a capture of UDP"""
import hashlib
import struct
import sys

from codec import (BODY, CR, DOUBT, EX, GET, GOT_SIZE, LEAST_ROOM, LIST, LISTED, LOCKS, MAX64, NL,
                   NOQUEUE, OBJECTS, PR, SIGNED, VALUE, VERSION, WAITING, form_of, is_request, pack,
                   pack_object, pad8)
from tags import derive

MASTER = bytes(range(32))
PORT = 7373
WHO = {"cluster": 1, "server": 3, "client": 7}
EPOCH, INCARNATION = 0x1122334455667788, 0x69c0ffee
REQUEST_KEY, REPLY_KEY = derive(MASTER, **WHO)
LOCK, OBJECT = b"backup/nightly-1", b"counter"
ATTEMPT, SEQ, GNO = INCARNATION << 32 | 0x11, INCARNATION << 32 | 0x203, 0x69b00000 << 32 | 5
S = 10**9


def digest(body):
    return hashlib.blake2s(body).digest()


def message(proto, kind, **fields):
    m = {"proto": proto, "type": kind, "seq": SEQ, "epoch": EPOCH, **WHO}
    if form_of(proto, kind).named is not False:
        m["name"] = OBJECT if proto == OBJECTS else LOCK
    return {**m, **fields}


def lock_messages():
    asked = {"attempt": ATTEMPT, "k": 2}
    seen = {"prio": 9, "token": 41}
    grant = {**asked, **seen, "gno": GNO}
    pushed = {**grant, "seq": 0, "flags": EX}
    wait = {**seen, "attempt": ATTEMPT, "gno_low": GNO & 0xffffffff, "wait": 7 * S}
    value = {"value": b"generation 17"}
    yield "HELLO", 0x01, {"epoch": 0}
    yield "TRY", 0x02, {**asked, "flags": EX, "lease": 10 * S, "prio": 9}
    yield "TRY+VALUE", 0x02, {**asked, "flags": PR | VALUE | NOQUEUE, "arg": CR, "lease": MAX64,
                              "prio": 9, "value_room": 64}
    yield "RELEASE", 0x03, {"attempt": ATTEMPT}
    yield "RELEASE+VALUE", 0x03, {"attempt": ATTEMPT, "flags": VALUE, "value_k": 3, **value}
    yield "YIELD", 0x04, {"attempt": ATTEMPT, "gno": GNO, "arg": NL}
    yield "STAMP", 0x05, {"attempt": ATTEMPT, "token": 42, "flags": EX}
    yield "RECOVER", 0x06, {"token": 41}
    yield "SYNC", 0x07, {"incarnation": INCARNATION}
    yield "ASK", 0x08, {}
    yield "STALE", 0x80, {"first": ATTEMPT}
    yield "CHALLENGE", 0x81, {"quarantine": 5 * S, "lease_max": 30 * S, "token": MAX64}
    yield "FREE", 0x82, {**grant, "flags": EX, "arg": 1 << EX}
    yield "FREE, pushed", 0x82, {**pushed, "arg": 1 << EX}
    yield "FREE+VALUE", 0x82, {**grant, "flags": PR | VALUE | DOUBT, "arg": 1 << PR, **value}
    yield "LOCKED", 0x83, wait
    yield "WAIT", 0x84, {**wait, "position": 3}
    yield "RELEASED", 0x85, {"attempt": ATTEMPT}
    yield "REFUSED, lease", 0x86, {"first": ATTEMPT, "arg": 1, "limit": S}
    yield "REFUSED, behind", 0x86, {"name": b"", "arg": 13, "limit": SEQ + (1 << 33)}
    yield "REFUSED, access", 0x86, {"first": ATTEMPT, "arg": 4}
    yield "INQUIRE", 0x87, pushed
    yield "SACK", 0x88, {"attempt": ATTEMPT, "offered": 42, "token": 42, "arg": 1 << EX}
    yield "SNACK", 0x89, {"attempt": ATTEMPT, "offered": 42, "token": 44, "arg": 1 << PR | 1 << CR}
    yield "SYNCED", 0x8a, {"incarnation": INCARNATION}
    yield "OWNER", 0x8b, {"attempt": ATTEMPT, "owner": 7, "waiters": 3, "rest": 7 * S, "holders": 1,
                          "token": 42, "flags": EX}
    yield "PROBE", 0x8c, pushed
    yield "VERSION", VERSION, {"arg": 2}


def object_messages():
    rank = {"count": 12, "inc": INCARNATION}
    following = {"next_count": 13, "next_inc": INCARNATION}
    op, state = b"add 5", bytes(range(40))
    big = bytes(i * 7 & 255 for i in range(1500))
    number = INCARNATION << 32 | 1
    operation = {"op": number, "len": len(op)}
    body = {"of": 8, "len": len(state), "digest": digest(state)}
    piece = {"of": 9, "len": len(big), "digest": digest(big), "offset": 1024}
    waiting = {"data": struct.pack("<QII", number, 7, len(op)) + digest(op)}
    got = {"pending": 1, "by_count": 12, "by_inc": INCARNATION, "by_client": 7}
    got |= {which + field: value for which in ("committed_", "proposed_")
            for field, value in body.items()}
    highest = {**rank, "max_count": 20, "max_inc": INCARNATION, "max_client": 8}
    signed = {"flags": SIGNED, "signature": bytes(range(64))}
    get_room = GOT_SIZE - form_of(OBJECTS, GET).size
    yield "SUBMIT", 0x10, {**operation, "digest": digest(op), "flags": BODY, "data": op}
    yield "GET", 0x11, {**rank, "room": get_room + 2 * WAITING}
    yield "GET, signed", 0x11, {**rank, **signed, "room": get_room - 64}
    yield "PROPOSE", 0x12, {**rank, **body, "flags": BODY, "data": state}
    yield "COMMIT", 0x13, {**rank, **body}
    yield "INSTALL", 0x14, {**rank, **body}
    yield "FETCH", 0x15, {**piece, "room": pad8(len(big) - 1024)}
    yield "PUT", 0x16, {**piece, "data": big[1024:]}
    yield "COMMIT_GET", 0x17, {**rank, **body, **following, "room": 2 * WAITING - 48}
    yield "LIST", LIST, {"cursor": 5 << 58, "room": LEAST_ROOM[LIST] - form_of(OBJECTS, LIST).size}
    yield "RESPONSE", 0x90, {"op": number, "len": 1, "data": b"5"}
    yield "PENDING", 0x91, operation
    yield "GOT", 0x92, {**rank, **got, **waiting}
    yield "RECOVERING", 0x93, rank
    yield "PROPOSED", 0x94, rank
    yield "COMMITTED", 0x95, rank
    yield "INSTALLED", 0x96, rank
    yield "EXCEPTION", 0x97, highest
    yield "EXCEPTION, signed", 0x97, {**highest, **signed}
    yield "NEEDBODY", 0x98, {"first": 12, "low": INCARNATION}
    yield "BODY", 0x99, {**piece, "data": big[1024:]}
    yield "NOBODY", 0x9a, piece
    yield "STORED", 0x9b, piece
    yield "COMMITTED_GOT", 0x9c, {**rank, **following, "pending": 1, **waiting}
    yield "LISTED", LISTED, {"cursor": 5 << 58, "next": 6 << 58, "recovering": 1, "data":
                             pack_object(8, OBJECT, b"counter") + pack_object(3, b"deleted", b"")}
    yield "REFUSED, objects", 0x86, {"first": 12, "arg": 8}


def vectors():
    """Names, messages and datagrams."""
    for proto, messages in ((LOCKS, lock_messages()), (OBJECTS, object_messages())):
        for name, kind, fields in messages:
            m = message(proto, kind, **fields)
            yield name, m, pack(m, REQUEST_KEY if is_request(kind) else REPLY_KEY)


def text():
    lines = ["master " + MASTER.hex(), "cluster %(cluster)d server %(server)d client %(client)d" % WHO,
             "request " + REQUEST_KEY.hex(), "reply " + REPLY_KEY.hex()]
    for name, _, datagram in vectors():
        lines += ["%s (%d bytes)" % (name, len(datagram)), datagram.hex()]
    return "\n".join(lines) + "\n"


def packet(datagram, to_server):
    """As a packet of IPv4, from client 192.0.2.7 or server 192.0.2.3."""
    addresses = bytes([192, 0, 2, 7, 192, 0, 2, 3] if to_server else [192, 0, 2, 3, 192, 0, 2, 7])
    ports = (40000, PORT) if to_server else (PORT, 40000)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(datagram), 0, 0, 64, 17, 0) + addresses
    return ip + struct.pack(">HHHH", *ports, 8 + len(datagram), 0) + datagram


def pcap(datagrams):
    """The bytes of a capture, a millisecond apart."""
    out = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 228)
    for i, datagram in enumerate(datagrams):
        data = packet(datagram, is_request(datagram[20] if len(datagram) > 20 else 0))
        out += struct.pack("<IIII", 1, 1000 * i, len(data), len(data)) + data
    return out


def main(args):
    if args[:1] == ["pcap"] and len(args) == 2:
        with open(args[1], "wb") as file:
            file.write(pcap(datagram for _, _, datagram in vectors()))
    elif args:
        sys.exit("usage: vectors.py [pcap FILE]")
    else:
        print(text(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
