#!/usr/bin/env python3
"""Wire format 2: keys, tags, a strict codec, one datagram of each type, costs.

  vectors.py            check everything, print the test vectors
  vectors.py cost       print the cost tables
  vectors.py check C    compare keys and tags with the program C (ctest.c)
"""
import hashlib
import struct
import subprocess
import sys

M = 2**64 - 1
TAG, HEAD, MIN, MAX, NAME_MAX, VALUE_MAX, PIECE = 16, 32, 56, 1232, 64, 64, 1024
NL, CR, CW, PR, PW, EX = range(6)
NOQUEUE, REASSERT, VALUE, DOUBT, DEADLK = 8, 16, 32, 64, 128      # proto 1; bits 0-2: mode
BODY, SIGNED = 1, 2                                               # proto 2
VERSION = 0xff


# ---- keys and tags, as in kmod/auth.c ------------------------------------------------
def rotl(x, b):
    return (x << b | x >> (64 - b)) & M


class Sip:
    """SipHash-2-4-128 that counts its rounds."""
    total = 0

    def __init__(self, key):
        k0, k1 = struct.unpack("<QQ", key)
        self.v = [0x736f6d6570736575 ^ k0, 0x646f72616e646f6d ^ k1 ^ 0xee,
                  0x6c7967656e657261 ^ k0, 0x7465646279746573 ^ k1]
        self.rounds = 0

    def run(self, n):
        a, b, c, d = self.v
        for _ in range(n):
            a = (a + b) & M; b = rotl(b, 13) ^ a; a = rotl(a, 32)
            c = (c + d) & M; d = rotl(d, 16) ^ c
            a = (a + d) & M; d = rotl(d, 21) ^ a
            c = (c + b) & M; b = rotl(b, 17) ^ c; c = rotl(c, 32)
        self.v = [a, b, c, d]
        self.rounds += n

    def word(self, m):
        self.v[3] ^= m
        self.run(2)
        self.v[0] ^= m

    def tag(self, data):
        whole = len(data) // 8 * 8
        for i in range(0, whole, 8):
            self.word(int.from_bytes(data[i:i + 8], "little"))
        self.word(int.from_bytes(data[whole:].ljust(7, b"\0") + bytes([len(data) & 255]), "little"))
        self.v[2] ^= 0xee
        self.run(4)
        out = struct.pack("<Q", self.v[0] ^ self.v[1] ^ self.v[2] ^ self.v[3])
        self.v[1] ^= 0xdd
        self.run(4)
        return out + struct.pack("<Q", self.v[0] ^ self.v[1] ^ self.v[2] ^ self.v[3])


def siphash128(key, data):
    return Sip(key).tag(data)


def rounds(length):
    """SipHash rounds for a datagram of so many bytes."""
    s = Sip(bytes(16))
    s.tag(bytes(length - TAG))
    return s.rounds


for n, want in ((0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
                (15, "5493e99933b0a8117e08ec0f97cfc3d9")):        # of the authors
    assert siphash128(bytes(range(16)), bytes(range(n))).hex() == want


def derive(master, cluster, server, client):
    """(request key, reply key)"""
    out = hashlib.blake2s(b"bftmutex client\0" + struct.pack("<IHHI", cluster, server, 0, client),
                          key=master, digest_size=32).digest()
    return out[:16], out[16:]


# ---- the form ------------------------------------------------------------------------
# A body is a list of (field, bytes); "" is zero. ID, WAITING and so on are groups.
ID = [("version", 8), ("len", 4), ("offset", 4), ("digest", 32)]
RANK = [("count", 8), ("inc", 4)]
A, K, PRIO, TOKEN = ("attempt", 8), ("k", 4), ("prio", 8), ("token", 8)
Z4, Z8 = ("", 4), ("", 8)
IDZ = [("version", 8), ("len", 4), Z4, ("digest", 32)]
PROP = RANK + [Z4] + IDZ


class Form:
    def __init__(self, name, body, flags=0, arg=0, mode=(0, 0), named=True, nonzero=(), tail=None):
        self.name, self.body, self.flags, self.arg = name, body, flags, arg
        self.mode, self.named, self.nonzero, self.tail = mode, named, nonzero, tail
        self.size = sum(n for _, n in body)


LOCKS = {
    0x01: Form("HELLO", [Z8, Z8, Z8, ("features", 4), Z4], named=False),
    0x02: Form("TRY", [A, K, Z4, ("lease", 8), PRIO, Z8], NOQUEUE | REASSERT | VALUE, 5, (1, 5),
               nonzero=("attempt", "k", "lease")),
    0x03: Form("RELEASE", [A], VALUE | DOUBT, nonzero=("attempt",)),
    0x04: Form("YIELD", [A, ("gno", 8)], 0, 5, nonzero=("attempt",)),
    0x05: Form("STAMP", [A, TOKEN, Z8], 0, 0, (1, 5), nonzero=("attempt", "token")),
    0x06: Form("RECOVER", [Z8, Z8, TOKEN, Z8], named=False),
    0x07: Form("SYNC", [("inc", 4), Z4], named=False, nonzero=("inc",)),
    0x08: Form("ASK", [Z8] * 5),
    0x80: Form("STALE", [("first", 8)], named=None),
    0x81: Form("CHALLENGE", [("quarantine", 8), ("lease_max", 8), TOKEN, ("features", 4), ("r", 1),
                             ("state", 1), ("", 2)], named=False),
    0x82: Form("FREE", [A, K, Z4, ("gno", 8), PRIO, TOKEN], VALUE | DOUBT | DEADLK, 63, (1, 5),
               nonzero=("attempt", "k")),
    0x83: Form("LOCKED", [A, ("gno", 4), Z4, ("wait", 8), PRIO, TOKEN], nonzero=("attempt",)),
    0x84: Form("WAIT", [A, ("gno", 4), ("position", 4), ("wait", 8), PRIO, TOKEN], DEADLK,
               nonzero=("attempt",)),
    0x85: Form("RELEASED", [A], nonzero=("attempt",)),
    0x86: Form("REFUSED", [("first", 8)], 0, 255, named=None),
    0x87: Form("INQUIRE", [A, K, Z4, ("gno", 8), PRIO, TOKEN], 0, 0, (1, 5), nonzero=("attempt", "k")),
    0x88: Form("SACK", [A, ("offered", 8), TOKEN], 0, 63, nonzero=("attempt",)),
    0x89: Form("SNACK", [A, ("offered", 8), TOKEN], 0, 63, nonzero=("attempt",)),
    0x8a: Form("SYNCED", [("inc", 4), Z4], named=False, nonzero=("inc",)),
    0x8b: Form("OWNER", [A, ("owner", 4), ("waiters", 4), ("rest", 8), ("holders", 4), Z4, TOKEN],
               0, 0, (0, 5)),
    0x8c: Form("PROBE", [A, K, Z4, ("gno", 8), PRIO, TOKEN], 0, 0, (1, 5), nonzero=("attempt", "k")),
}
E16 = [("count", 8), ("inc", 4), ("x", 4)]          # the first 16 bytes of the request's body
OBJECTS = {
    0x10: Form("SUBMIT", [("op", 8), ("len", 4), ("offset", 4), ("digest", 32)], BODY,
               nonzero=("op",), tail="body"),
    0x11: Form("GET", RANK + [("first", 4)], SIGNED, nonzero=("count",), tail="room"),
    0x12: Form("PROPOSE", PROP, BODY, nonzero=("count",), tail="body"),
    0x13: Form("COMMIT", PROP, BODY, nonzero=("count",), tail="body"),
    0x14: Form("INSTALL", PROP, BODY, nonzero=("count",), tail="body"),
    0x15: Form("FETCH", ID, tail="room"),
    0x16: Form("PUT", ID, tail="piece"),
    0x17: Form("COMMIT_GET", PROP + [("count2", 8), ("inc2", 4), ("first", 4)], BODY | SIGNED,
               nonzero=("count", "count2"), tail="body"),
    0x90: Form("RESPONSE", [("op", 8), ("len", 4), ("offset", 4)], nonzero=("op",), tail="response"),
    0x91: Form("PENDING", E16),
    0x92: Form("GOT", RANK + [("pending", 4)] +
               [("c_" + f if f else "", n) for f, n in IDZ] +
               [("p_" + f if f else "", n) for f, n in IDZ] +
               [("prop_count", 8), ("prop_inc", 4), ("prop_client", 4)], tail="waiting"),
    0x93: Form("RECOVERING", RANK + [Z4]),
    0x94: Form("PROPOSED", E16),
    0x95: Form("COMMITTED", E16),
    0x96: Form("INSTALLED", E16),
    0x97: Form("EXCEPTION", RANK + [Z4, ("max_count", 8), ("max_inc", 4), ("max_client", 4)], SIGNED),
    0x98: Form("NEEDBODY", E16),
    0x99: Form("BODY", ID, tail="piece"),
    0x9a: Form("NOBODY", ID),
    0x9b: Form("STORED", ID),
    0x9c: Form("COMMITTED_GOT", RANK + [Z4, ("count2", 8), ("inc2", 4), ("pending", 4)], tail="waiting"),
}
for t in (0x01, 0x80, 0x81, 0x86):
    OBJECTS[t] = LOCKS[t]
FORMS = {1: LOCKS, 2: OBJECTS}
WAITING = 48
GOT_SIZE = OBJECTS[0x92].size


# What may answer a request; none may be longer than the shortest request of its type.
COMMON = (0x80, 0x86)
ANSWERS = {
    1: {0x01: (0x81,), 0x02: (0x82, 0x83, 0x84), 0x03: (0x85,), 0x04: (), 0x05: (0x88, 0x89), 0x06: (0x81,),
        0x07: (0x8a,), 0x08: (0x8b,)},
    2: {0x10: (0x90, 0x91, 0x98), 0x11: (0x92, 0x93, 0x97), 0x12: (0x94, 0x97, 0x98), 0x13: (0x95, 0x97, 0x98),
        0x14: (0x96, 0x98), 0x15: (0x9a,), 0x16: (0x9b,), 0x17: (0x9c, 0x93, 0x97, 0x98)},
}
for p, pairs in ANSWERS.items():
    for t, answers in pairs.items():
        room = GOT_SIZE if (p, t) == (2, 0x11) else FORMS[p][t].size
        assert all(FORMS[p][x].size <= room for x in answers + COMMON), (p, t)
    pushed = {1: {0x87, 0x8c}, 2: {0x99}}[p]         # BODY: FETCH has to leave exactly its room
    assert {x for x in FORMS[p] if x & 0x80} == {0x81} | set(COMMON) | pushed | {x for a in pairs.values() for x in a}


class Bad(Exception):
    pass


def must(ok, why):
    if not ok:
        raise Bad(why)


def pad8(n):
    return (n + 7) // 8 * 8


def is_request(t):
    return not t & 0x80


def pack(proto, type, *, cluster, client, server, epoch, seq, name=b"", flags=0, arg=0, data=b"",
         sig=b"", room=0, vk=0, value=b"", vlen=None, vroom=None, version=2, limit=None, length=None,
         key=None, **f):
    """room: bytes of zeroes behind the body; length: pad the whole to it."""
    head = struct.pack("<BBHIQIBBBBQ", version, proto, server, cluster, epoch, client, type,
                       len(name), flags, arg, seq)
    out = head + name.ljust(pad8(len(name)), b"\0")
    if type != VERSION:
        for field, size in FORMS[proto][type].body:
            v = f.pop(field, 0) if field else 0
            out += v if isinstance(v, bytes) else v.to_bytes(size, "little")
    if limit is not None:
        out += struct.pack("<Q", limit)
    if proto == 1 and flags & VALUE:
        vroom = pad8(len(value)) if vroom is None else vroom
        out += struct.pack("<IBBH", vk, len(value) if vlen is None else vlen, vroom, 0)
        out += value.ljust(vroom, b"\0")
    out += sig + data.ljust(pad8(len(data)), b"\0") + bytes(room)
    if length:
        out += bytes(length - TAG - len(out))
    assert not f, f
    return out + siphash128(key, out) if key else out + bytes(TAG)


def parse(d):
    """The message in a datagram, its tag unchecked. Raises Bad for each wrong form."""
    must(len(d) % 8 == 0 and HEAD + TAG <= len(d) <= MAX, "length")
    m = dict(zip(("version", "proto", "server", "cluster", "epoch", "client", "type", "name_len",
                  "flags", "arg", "seq"), struct.unpack("<BBHIQIBBBBQ", d[:HEAD])))
    must(m["version"] == 2, "version")
    if m["type"] == VERSION:
        must(len(d) == HEAD + TAG and not m["name_len"] and not m["flags"], "VERSION")
        return m
    must(len(d) >= MIN, "length")
    must(m["proto"] in FORMS, "protocol")           # not wrong form: REFUSED (5) after the tag
    form = FORMS[m["proto"]].get(m["type"])
    must(form, "type")
    must(m["seq"] or not is_request(m["type"]), "seq 0")
    # Name.
    most = NAME_MAX - (m["proto"] == 2)
    must(m["name_len"] <= most, "name too long")
    must(form.named is None or bool(m["name_len"]) == form.named, "name or none")
    at = HEAD + pad8(m["name_len"])
    must(at + 8 + TAG <= len(d), "length")
    must(not any(d[HEAD + m["name_len"]:at]), "name's padding")
    m["name"] = d[HEAD:HEAD + m["name_len"]]
    # Flags and arg.
    flags, mode = m["flags"], 0
    if m["proto"] == 1:
        mode = flags & 7
        flags &= ~7
        must(form.mode[0] <= mode <= form.mode[1], "mode")
    must(not flags & ~form.flags, "flags")
    must(m["arg"] <= form.arg, "arg")
    must(m["type"] != 0x86 or m["arg"], "no reason")
    must(m["proto"] != 1 or m["type"] != 0x82 or flags & VALUE or not flags & DOUBT, "flags")
    must(m["type"] not in (0x82, 0x88, 0x89) or m["proto"] != 1 or not m["arg"] & 1, "arg")
    # Body.
    end = len(d) - TAG
    must(at + form.size <= end, "length")
    for field, size in form.body:
        v = d[at:at + size]
        at += size
        if not field:
            must(not any(v), "unused field")
        else:
            m[field] = v if field.endswith("digest") else int.from_bytes(v, "little")
    for field in form.nonzero:
        must(m[field], field + " 0")
    if m["type"] in (0x05, 0x06):
        must(m["token"] != M, "token")
    if m["proto"] == 2 and is_request(m["type"]):
        must(m.get("count", 1) < 1 << 63 and m.get("count2", 1) < 1 << 63, "rank")
    if m["proto"] == 1 or form.tail is None:
        if m["type"] == 0x86 and m["arg"] in (1, 13):
            must(at + 8 <= end, "length")
            m["limit"] = int.from_bytes(d[at:at + 8], "little")
            at += 8
        if m["proto"] == 1 and flags & VALUE:
            must(at + 8 <= end, "length")
            m["vk"], n, room, zero = struct.unpack("<IBBH", d[at:at + 8])
            must(not zero and room % 8 == 0 and room <= VALUE_MAX and n <= VALUE_MAX, "value")
            must(is_request(m["type"]) <= (n <= room), "value")
            must(is_request(m["type"]) or not m["vk"], "value")
            must(is_request(m["type"]) or room == (pad8(n) if n <= room else 0), "value")
            must(bool(m["vk"]) or not is_request(m["type"]) or not n, "value")
            at += 8
            must(at + room <= end, "length")
            kept = n if n <= room else 0
            m["value"], m["vlen"], m["vroom"] = d[at:at + kept], n, room
            must(not any(d[at + kept:at + room]), "value's padding")
            at += room
        if flags & SIGNED and m["proto"] == 2:
            m["sig"] = d[at:at + 64]
            must(at + 64 <= end, "length")
            at += 64
        must(at == end, "length")
        return m
    # Ordering: signature, data, zeroes.
    if flags & SIGNED:
        must(at + 64 <= end, "length")
        m["sig"] = d[at:at + 64]
        at += 64
    left = end - at
    need = 0
    if form.tail == "body" and flags & BODY:
        need = m["len"]
        must(m["type"] != 0x10 or m["offset"] == 0, "body and offset")
    elif form.tail == "piece":
        must(m["offset"] % PIECE == 0 and m["offset"] < m["len"], "piece")
        need = min(PIECE, m["len"] - m["offset"])
    elif form.tail == "response":
        # As much as there is, and no padding but of its end.
        have = 0 if m["len"] == 2**32 - 1 else max(m["len"] - m["offset"], 0)
        need = min(have, left)
        must(left == pad8(need), "length")
    elif form.tail == "waiting":
        must(left % WAITING == 0, "length")
        need = left
    must(need <= left, "length")
    m["data"] = d[at:at + need]
    must(not any(d[at + need:end]), "padding")
    if form.tail == "piece":
        must(left == pad8(need), "length")
    m["room"] = end - (HEAD + pad8(m["name_len"]))   # of the answer's body
    if m["type"] == 0x11:
        must(m["room"] >= GOT_SIZE, "room")
    if m["type"] == 0x15:
        must(m["offset"] % PIECE == 0 and m["offset"] < m["len"], "piece")
        must(left == pad8(min(PIECE, m["len"] - m["offset"])), "room")
    if m["type"] == 0x17:
        must(m["count2"] > m["count"], "ranks")
    return m


# ---- one of each ---------------------------------------------------------------------
MASTER = bytes(range(32))
WHO = dict(cluster=1, server=3, client=7)
EPOCH, INC = 0x1122334455667788, 0x69c0ffee
REQ, REP = derive(MASTER, **WHO)
NAME, OBJ = b"backup/nightly-1", b"counter"
ATT, SEQ, GNO = INC << 32 | 0x11, INC << 32 | 0x203, 0x69b00000 << 32 | 5


def make(proto, type, seq=SEQ, **kw):
    kw.setdefault("name", b"" if type in (1, 6, 7, 0x81, 0x8a, VERSION) else OBJ if proto == 2 else NAME)
    kw.setdefault("epoch", EPOCH)
    return pack(proto, type, seq=seq, key=REQ if is_request(type) else REP, **WHO, **kw)


def vectors():
    at = dict(attempt=ATT, k=2)
    seen = dict(prio=9, token=41)
    grant = dict(at, gno=GNO, **seen)
    rank = dict(count=12, inc=INC)
    op = b"add 5"
    dig = lambda b: hashlib.blake2s(b).digest()
    state = bytes(range(40))
    sid = dict(version=8, len=len(state), digest=dig(state))
    oid = dict(op=INC << 32 | 1, len=len(op), digest=dig(op))
    wait = struct.pack("<QII", INC << 32 | 1, 7, len(op)) + dig(op)
    got = {"c_" + k: v for k, v in sid.items()} | {"p_" + k: v for k, v in sid.items()}
    e16 = dict(rank, x=0)
    big = bytes(i * 7 & 255 for i in range(1500))
    bid = dict(version=9, len=len(big), digest=dig(big), offset=1024)
    sig = bytes(range(64))
    yield "HELLO", make(1, 0x01, epoch=0)
    yield "TRY", make(1, 0x02, flags=EX, lease=10**10, prio=9, **at)
    yield "TRY+VALUE", make(1, 0x02, flags=PR | VALUE | NOQUEUE, arg=CR, lease=M, prio=9, vroom=64, **at)
    yield "RELEASE", make(1, 0x03, attempt=ATT)
    yield "RELEASE+VALUE", make(1, 0x03, attempt=ATT, flags=VALUE, vk=3, value=b"generation 17")
    yield "YIELD", make(1, 0x04, attempt=ATT, gno=GNO, arg=NL)
    yield "STAMP", make(1, 0x05, attempt=ATT, token=42, flags=EX)
    yield "RECOVER", make(1, 0x06, token=41)
    yield "SYNC", make(1, 0x07, inc=INC)
    yield "ASK", make(1, 0x08)
    yield "STALE", make(1, 0x80, first=ATT)
    yield "CHALLENGE", make(1, 0x81, quarantine=5 * 10**9, lease_max=3 * 10**10, token=M)
    yield "FREE", make(1, 0x82, flags=EX, arg=1 << EX, **grant)
    yield "FREE, pushed", make(1, 0x82, seq=0, flags=EX, arg=1 << EX, **grant)
    yield "FREE+VALUE", make(1, 0x82, flags=PR | VALUE | DOUBT, arg=1 << PR, value=b"generation 17", **grant)
    yield "LOCKED", make(1, 0x83, wait=7 * 10**9, attempt=ATT, gno=GNO & 0xffffffff, **seen)
    yield "WAIT", make(1, 0x84, wait=7 * 10**9, position=3, attempt=ATT, gno=GNO & 0xffffffff, **seen)
    yield "RELEASED", make(1, 0x85, attempt=ATT)
    yield "REFUSED, lease", make(1, 0x86, first=ATT, arg=1, limit=10**9)
    yield "REFUSED, behind", make(1, 0x86, name=b"", arg=13, limit=SEQ + (1 << 33))
    yield "REFUSED, access", make(1, 0x86, first=ATT, arg=4)
    yield "INQUIRE", make(1, 0x87, seq=0, flags=EX, **grant)
    yield "SACK", make(1, 0x88, attempt=ATT, offered=42, token=42, arg=1 << EX)
    yield "SNACK", make(1, 0x89, attempt=ATT, offered=42, token=44, arg=1 << PR | 1 << CR)
    yield "SYNCED", make(1, 0x8a, inc=INC)
    yield "OWNER", make(1, 0x8b, attempt=ATT, owner=7, waiters=3, rest=7 * 10**9, holders=1, token=42, flags=EX)
    yield "PROBE", make(1, 0x8c, seq=0, flags=EX, **grant)
    yield "VERSION", make(1, VERSION, arg=2)
    yield "SUBMIT", make(2, 0x10, flags=BODY, data=op, **oid)
    yield "GET", make(2, 0x11, first=0, length=HEAD + 8 + GOT_SIZE + 2 * WAITING + TAG, **rank)
    yield "GET, signed", make(2, 0x11, flags=SIGNED, sig=sig, length=HEAD + 8 + GOT_SIZE + TAG, **rank)
    yield "PROPOSE", make(2, 0x12, flags=BODY, data=state, **rank, **sid)
    yield "COMMIT", make(2, 0x13, **rank, **sid)
    yield "INSTALL", make(2, 0x14, **rank, **sid)
    yield "FETCH", make(2, 0x15, room=pad8(1500 - 1024), **bid)
    yield "PUT", make(2, 0x16, data=big[1024:], **bid)
    yield "COMMIT_GET", make(2, 0x17, count2=13, inc2=INC, first=0, room=2 * WAITING - 48, **rank, **sid)
    yield "RESPONSE", make(2, 0x90, op=INC << 32 | 1, len=1, data=b"5")
    yield "PENDING", make(2, 0x91, count=INC << 32 | 1, inc=len(op))
    yield "GOT", make(2, 0x92, pending=1, prop_count=12, prop_inc=INC, prop_client=7, data=wait, **rank, **got)
    yield "RECOVERING", make(2, 0x93, **rank)
    yield "PROPOSED", make(2, 0x94, **e16)
    yield "COMMITTED", make(2, 0x95, **e16)
    yield "INSTALLED", make(2, 0x96, **e16)
    yield "EXCEPTION", make(2, 0x97, max_count=20, max_inc=INC, max_client=8, **rank)
    yield "EXCEPTION, signed", make(2, 0x97, flags=SIGNED, sig=sig, max_count=20, max_inc=INC, max_client=8, **rank)
    yield "NEEDBODY", make(2, 0x98, **e16)
    yield "BODY", make(2, 0x99, data=big[1024:], **bid)
    yield "NOBODY", make(2, 0x9a, **bid)
    yield "STORED", make(2, 0x9b, **bid)
    yield "COMMITTED_GOT", make(2, 0x9c, count2=13, inc2=INC, pending=1, data=wait, **rank)
    yield "REFUSED, objects", make(2, 0x86, first=12, arg=8)


def again(d):
    """A message packed once more: one message has one spelling."""
    m = parse(d)
    kw = {k: v for k, v in m.items() if k not in ("room", "name_len", "vlen", "vroom")}
    proto, type = kw.pop("proto"), kw.pop("type")
    if "version" in kw and not (proto == 2 and type != VERSION and
                                any(f == "version" for f, _ in FORMS[proto][type].body)):
        del kw["version"]
    if "vlen" in m:
        kw["vlen"], kw["vroom"] = m["vlen"], m["vroom"]
    body_version = kw.pop("version", None)
    out = pack_v(proto, type, body_version, len(d), **kw)
    assert out[:-TAG] == d[:-TAG], (m, out.hex(), d.hex())


def pack_v(proto, type, body_version, length, **kw):
    """pack(), for bodies that have a field called version themselves."""
    if body_version is None:
        return pack(proto, type, length=length, **kw)
    form = FORMS[proto][type]
    old = form.body
    form.body = [("body_version" if f == "version" else f, n) for f, n in old]
    try:
        return pack(proto, type, length=length, body_version=body_version, **kw)
    finally:
        form.body = old


_make = make


def make(proto, type, seq=SEQ, **kw):            # noqa: F811
    v = kw.pop("version", None)
    if v is None:
        return _make(proto, type, seq=seq, **kw)
    form = FORMS[proto][type]
    old = form.body
    form.body = [("body_version" if f == "version" else f, n) for f, n in old]
    try:
        return _make(proto, type, seq=seq, body_version=v, **kw)
    finally:
        form.body = old


def check():
    import collections
    why, other, total = collections.Counter(), 0, 0
    all_ = list(vectors())
    for name, d in all_:
        m = parse(d)
        assert FORMS[m["proto"]][m["type"]].name == name.split("+")[0].split(",")[0] \
            if m["type"] != VERSION else True, name
        again(d)
        for bit in range(8 * (len(d) - TAG)):
            e = bytearray(d)
            e[bit // 8] ^= 1 << bit % 8
            total += 1
            try:
                again(bytes(e))
                assert parse(bytes(e)) != m
                other += 1
            except Bad as x:
                why[str(x)] += 1
        for cut in range(0, MAX + 64, 4):
            e = d[:min(cut, len(d) - TAG)] + bytes(max(0, cut - len(d))) + d[-TAG:]
            try:
                again(e)
            except Bad:
                pass
    types = {m["type"] | m["proto"] << 8 for m in map(parse, (d for _, d in all_))}
    missing = [f.name for p in FORMS for t, f in FORMS[p].items() if t | p << 8 not in types]
    assert set(missing) <= {"HELLO", "STALE", "CHALLENGE"}, missing     # common forms, once is enough
    print("# %d datagrams; of %d single flipped bits %d are wrong form, %d another message in its one spelling"
          % (len(all_), total, total - other, other), file=sys.stderr)
    print("#", ", ".join("%s %d" % x for x in why.most_common()), file=sys.stderr)


def main():
    if sys.argv[1:2] == ["cost"]:
        import cost
        cost.main()
        return
    check()
    if sys.argv[1:2] == ["check"]:
        prog = sys.argv[2]
        run = lambda *a: subprocess.run([prog, *a], capture_output=True, text=True, check=True).stdout.split()
        assert run("derive", MASTER.hex(), "1", "3", "7") == [REQ.hex(), REP.hex()]
        for _, d in vectors():
            key = REQ if is_request(d[20]) else REP
            assert run("sign", key.hex(), d[:-TAG].hex()) == [d[-TAG:].hex(), "ok"]
        # Today's messages, made by today's encoder.
        for line in subprocess.run([prog, "old"], capture_output=True, text=True, check=True).stdout.split("\n"):
            if line:
                d = bytes.fromhex(line)
                key = REP if d[1] & 0x80 else REQ
                assert siphash128(key, d[:-TAG]) == d[-TAG:] and d[0] == 1
                try:
                    parse(d)
                    assert False
                except Bad as x:
                    assert str(x) == "version"
        print("keys and %d tags as kmod/auth.c makes them" % sum(1 for _ in vectors()))
        return
    print("master %s\ncluster 1 server 3 client 7\nrequest %s\nreply %s" % (MASTER.hex(), REQ.hex(), REP.hex()))
    for name, d in vectors():
        print("%s (%d bytes)\n%s" % (name, len(d), d.hex()))


if __name__ == "__main__":
    main()
