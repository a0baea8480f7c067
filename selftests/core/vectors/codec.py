# SPDX-License-Identifier: GPL-2.0
"""Datagrams of wire version 2, read and written by a second program.

Written from Documentation/protocol.rst, and not from the sources in C, so that an error of one is
not an error of both. It is strict: each message has one spelling, and parse() raises Bad for all
else. A message is a dict of its fields; pack() writes what parse() has read."""
import struct

from tags import siphash128

MAX64 = 2**64 - 1
HEAD, TAG, SHORTEST, LONGEST = 32, 16, 56, 1232
NAME_MAX, OBJECT_NAME_MAX, VALUE_MAX, PIECE, SIGNATURE = 64, 63, 64, 1024, 64
HEAD_FIELDS = ("version", "proto", "server", "cluster", "epoch", "client", "type", "name_len",
               "flags", "arg", "seq")
HEAD_FORM = "<BBHIQIBBBBQ"
LOCKS, OBJECTS, TESTS = 1, 2, 0xf0      # protocols; those from TESTS on have the messages of locks

NL, CR, CW, PR, PW, EX = range(6)                                   # modes
NOQUEUE, REASSERT, VALUE, DOUBT, DEADLOCK = 8, 16, 32, 64, 128      # flags of locks
BODY, SIGNED = 1, 2                                                 # flags of objects
TRY, STAMP, RECOVER, FREE, REFUSED, SACK, SNACK = 0x02, 0x05, 0x06, 0x82, 0x86, 0x88, 0x89
SUBMIT, GET, FETCH, COMMIT_GET, LIST, LISTED, VERSION = 0x10, 0x11, 0x15, 0x17, 0x18, 0x9d, 0xff
REFUSED_LEASE, REFUSED_BEHIND = 1, 13


class Bad(Exception):
    """The datagram is no message."""


class OtherVersion(Bad):
    """It is one of another version."""


class Foreign(Bad):
    """It is a request of a protocol that is not known here."""


def must(right, why):
    if not right:
        raise Bad(why)


def pad8(length):
    return (length + 7) // 8 * 8


def is_request(kind):
    return not kind & 0x80


# ---- forms ---------------------------------------------------------------------------
# A body is "FIELD:BYTES ..."; "-" is no field, and 0; "!" behind one: it is not 0.
class Form:
    """What a type of messages has: @named is None where it has the name of its request, @most is
    the largest arg, @tail what follows the body: "body" of BODY, "piece", "response", "waiting",
    "objects", or "room" for the answer."""
    def __init__(self, name, body, *, flags=0, most=0, modes=(0, 0), named=True, tail=None):
        self.name, self.flags, self.most, self.modes = name, flags, most, modes
        self.named, self.tail = named, tail
        self.body, self.filled = [], []
        for word in body.split():
            field, size = word.split(":")
            if field.endswith("!"):
                field = field[:-1]
                self.filled.append(field)
            self.body.append(("" if field == "-" else field, int(size)))
        self.size = sum(size for _, size in self.body)


ANY_MODE = (CR, EX)
GRANT = "attempt!:8 k!:4 -:4 gno:8 prio:8 token:8"
COMMON_FORMS = {
    0x01: Form("HELLO", "-:8 -:8 -:8 features:4 -:4", named=False),
    0x80: Form("STALE", "first:8", named=None),
    0x81: Form("CHALLENGE", "quarantine:8 lease_max:8 token:8 features:4 spared:1 recovering:1 -:2",
               named=False),
    REFUSED: Form("REFUSED", "first:8", most=255, named=None),
}
LOCK_FORMS = COMMON_FORMS | {
    TRY: Form("TRY", "attempt!:8 k!:4 -:4 lease!:8 prio:8 -:8", modes=ANY_MODE, most=EX,
              flags=NOQUEUE | REASSERT | VALUE),
    0x03: Form("RELEASE", "attempt!:8", flags=VALUE | DOUBT),
    0x04: Form("YIELD", "attempt!:8 gno:8", most=EX),
    STAMP: Form("STAMP", "attempt!:8 token!:8 -:8", modes=ANY_MODE),
    RECOVER: Form("RECOVER", "-:8 -:8 token:8 -:8", named=False),
    0x07: Form("SYNC", "incarnation!:4 -:4", named=False),
    0x08: Form("ASK", "-:40"),
    FREE: Form("FREE", GRANT, modes=ANY_MODE, most=63, flags=VALUE | DOUBT | DEADLOCK),
    0x83: Form("LOCKED", "attempt!:8 gno_low:4 -:4 wait:8 prio:8 token:8"),
    0x84: Form("WAIT", "attempt!:8 gno_low:4 position:4 wait:8 prio:8 token:8", flags=DEADLOCK),
    0x85: Form("RELEASED", "attempt!:8"),
    0x87: Form("INQUIRE", GRANT, modes=ANY_MODE),
    SACK: Form("SACK", "attempt!:8 offered:8 token:8", most=63),
    SNACK: Form("SNACK", "attempt!:8 offered:8 token:8", most=63),
    0x8a: Form("SYNCED", "incarnation!:4 -:4", named=False),
    0x8b: Form("OWNER", "attempt:8 owner:4 waiters:4 rest:8 holders:4 -:4 token:8", modes=(NL, EX)),
    0x8c: Form("PROBE", GRANT, modes=ANY_MODE),
}
# The rank of an iteration; the id of a body, and of a piece of it.
RANK = "count!:8 inc:4"
ID, PIECE_ID = "of:8 len:4 -:4 digest:32", "of:8 len:4 offset:4 digest:32"
PROPOSAL, DONE = RANK + " -:4 " + ID, RANK + " -:4"
OBJECT_FORMS = COMMON_FORMS | {
    SUBMIT: Form("SUBMIT", "op!:8 len:4 offset:4 digest:32", flags=BODY, tail="body"),
    GET: Form("GET", RANK + " from:4", flags=SIGNED, tail="room"),
    0x12: Form("PROPOSE", PROPOSAL, flags=BODY, tail="body"),
    0x13: Form("COMMIT", PROPOSAL, flags=BODY, tail="body"),
    0x14: Form("INSTALL", PROPOSAL, flags=BODY, tail="body"),
    FETCH: Form("FETCH", PIECE_ID, tail="room"),
    0x16: Form("PUT", PIECE_ID, tail="piece"),
    COMMIT_GET: Form("COMMIT_GET", PROPOSAL + " next_count!:8 next_inc:4 from:4", flags=BODY | SIGNED,
                     tail="body"),
    LIST: Form("LIST", "cursor:8", named=False, tail="room"),
    0x90: Form("RESPONSE", "op!:8 len:4 offset:4", tail="response"),
    0x91: Form("PENDING", "op!:8 len:4 offset:4"),
    0x92: Form("GOT", RANK + " pending:4 committed_of:8 committed_len:4 -:4 committed_digest:32"
               " proposed_of:8 proposed_len:4 -:4 proposed_digest:32"
               " by_count:8 by_inc:4 by_client:4", tail="waiting"),
    0x93: Form("RECOVERING", DONE),
    0x94: Form("PROPOSED", DONE),
    0x95: Form("COMMITTED", DONE),
    0x96: Form("INSTALLED", DONE),
    0x97: Form("EXCEPTION", RANK + " -:4 max_count:8 max_inc:4 max_client:4", flags=SIGNED),
    0x98: Form("NEEDBODY", "first!:8 low:4 high:4"),
    0x99: Form("BODY", PIECE_ID, tail="piece"),
    0x9a: Form("NOBODY", PIECE_ID),
    0x9b: Form("STORED", PIECE_ID),
    0x9c: Form("COMMITTED_GOT", RANK + " -:4 next_count!:8 next_inc:4 pending:4", tail="waiting"),
    LISTED: Form("LISTED", "cursor:8 next:8 recovering:1 -:7", named=False, tail="objects"),
}
VERSION_FORM = Form("VERSION", "", most=255, named=False)
FORMS = {LOCKS: LOCK_FORMS, OBJECTS: OBJECT_FORMS}
WAITING, GOT_SIZE, GONE = 48, OBJECT_FORMS[0x92].size, 2**32 - 1
# An object in LISTED: its version and the lengths of its name and its type, then these.
OBJECT_FORM, TYPE_MAX = "<QBB", 31
OBJECT_HEAD = struct.calcsize(OBJECT_FORM)
# The requests of objects that may leave more room for their answers than they need.
ROOMY = (SUBMIT, GET, 0x12, 0x13, 0x14, COMMIT_GET, LIST)

# Types that may answer a request, besides STALE and REFUSED. BODY answers FETCH.
ANSWERS = {
    LOCKS: {0x01: (0x81,), TRY: (FREE, 0x83, 0x84), 0x03: (0x85,), 0x04: (), STAMP: (SACK, SNACK),
            RECOVER: (0x81,), 0x07: (0x8a,), 0x08: (0x8b,)},
    OBJECTS: {0x01: (0x81,), SUBMIT: (0x90, 0x91, 0x98), GET: (0x92, 0x93, 0x97),
              0x12: (0x94, 0x97, 0x98), 0x13: (0x95, 0x97, 0x98), 0x14: (0x96, 0x98),
              FETCH: (0x9a, 0x99), 0x16: (0x9b,), COMMIT_GET: (0x9c, 0x93, 0x97, 0x98),
              LIST: (LISTED,)},
}
PUSHED = {LOCKS: (FREE, 0x87, 0x8c), OBJECTS: (0x90,)}


def has_locks(proto):
    return proto == LOCKS or proto >= TESTS


def form_of(proto, kind):
    return VERSION_FORM if kind == VERSION else FORMS[LOCKS if has_locks(proto) else proto][kind]


# ---- writing -------------------------------------------------------------------------
def value_part(m):
    value = m.get("value", b"")
    length, room = m.get("value_len", len(value)), m.get("value_room", pad8(len(value)))
    return struct.pack("<IBBH", m.get("value_k", 0), length, room, 0) + value.ljust(room, b"\0")


def pack(m, key=None):
    """The datagram of a message, with a tag of zeroes unless there is a key. A field that is not
    there is 0."""
    name = m.get("name", b"")
    flags, arg, kind = m.get("flags", 0), m.get("arg", 0), m["type"]
    out = struct.pack(HEAD_FORM, 2, m["proto"], m["server"], m["cluster"], m.get("epoch", 0),
                      m["client"], kind, len(name), flags, arg, m["seq"])
    out += name.ljust(pad8(len(name)), b"\0")
    for field, size in form_of(m["proto"], kind).body:
        value = m.get(field, 0) if field else 0
        out += value if isinstance(value, bytes) else value.to_bytes(size, "little")
    if kind == REFUSED and arg in (REFUSED_LEASE, REFUSED_BEHIND):
        out += m["limit"].to_bytes(8, "little")
    if has_locks(m["proto"]) and flags & VALUE and kind != VERSION:
        out += value_part(m)
    data = m.get("data", b"")
    out += m.get("signature", b"") + data.ljust(pad8(len(data)), b"\0") + bytes(m.get("room", 0))
    return out + (siphash128(key, out) if key else bytes(TAG))


def pack_object(version, name, kind):
    """An object in LISTED."""
    out = struct.pack(OBJECT_FORM, version, len(name), len(kind)) + name + kind
    return out.ljust(pad8(len(out)), b"\0")


# The least room between head and tag, for the longest answer that comes in any case.
LEAST_ROOM = {GET: GOT_SIZE, LIST: OBJECT_FORMS[LISTED].size +
              len(pack_object(1, bytes(OBJECT_NAME_MAX), bytes(TYPE_MAX)))}


# ---- reading -------------------------------------------------------------------------
class Rest:
    """What is left of a datagram before its tag."""
    def __init__(self, bytes_left):
        self.left = bytes_left

    def take(self, size):
        must(size <= len(self.left), "length")
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def zeroes(self, size):
        must(not any(self.take(size)), "padding")

    def end(self):
        must(not self.left, "length")


def read_value(m, rest):
    request = is_request(m["type"])
    m["value_k"], length, room = rest.number(4), rest.number(1), rest.number(1)
    rest.zeroes(2)
    must(room % 8 == 0 and room <= VALUE_MAX and length <= VALUE_MAX, "value")
    if request:
        must(length <= room and (m["value_k"] or not length), "value")
    else:
        must(not m["value_k"] and room in (0, pad8(length)), "value")
    kept = length if length <= room else 0
    m["value_len"], m["value_room"], m["value"] = length, room, rest.take(kept)
    rest.zeroes(room - kept)


def read_lock(m, rest):
    """What one field of a message about a lock forbids another, and what follows the body."""
    kind, flags, arg = m["type"], m["flags"], m["arg"]
    if kind in (STAMP, RECOVER):
        must(m["token"] != MAX64, "token")
    if kind == FREE:
        must(flags & VALUE or not flags & DOUBT, "DOUBT without VALUE")
    if kind in (FREE, SACK, SNACK):
        must(not arg & 1, "NL in a set of modes")
    if flags & VALUE:
        read_value(m, rest)


def piece_size(m):
    must(m["offset"] % PIECE == 0 and m["offset"] < m["len"], "piece")
    return min(PIECE, m["len"] - m["offset"])


def check_objects(data):
    while data:
        must(len(data) >= OBJECT_HEAD, "object")
        version, name, kind = struct.unpack(OBJECT_FORM, data[:OBJECT_HEAD])
        size = OBJECT_HEAD + name + kind
        must(version and 0 < name <= OBJECT_NAME_MAX and kind <= TYPE_MAX, "object")
        must(pad8(size) <= len(data) and not any(data[size:pad8(size)]), "object")
        data = data[pad8(size):]


def data_size(m, tail, left):
    """How many bytes of data there are behind the body."""
    if tail == "body" and m["flags"] & BODY:
        must(m["type"] != SUBMIT or m["offset"] == 0, "body and offset")
        return m["len"]
    if tail == "piece":
        return piece_size(m)
    if tail == "response":
        return min(0 if m["len"] == GONE else max(m["len"] - m["offset"], 0), left)
    if tail == "objects":
        return left
    if tail == "waiting":
        must(left % WAITING == 0, "waiting")
        return left
    return 0


def read_object(m, rest, form):
    """Of a message about an object: signature, data, room."""
    kind = m["type"]
    if is_request(kind):
        must(all(m.get(count, 1) < 2**63 for count in ("count", "next_count")), "count")
    if kind == COMMIT_GET:
        must(m["next_count"] > m["count"], "counts")
    if m["flags"] & SIGNED:
        m["signature"] = rest.take(SIGNATURE)
    left = len(rest.left) + (SIGNATURE if m["flags"] & SIGNED else 0)
    must(form.size + left >= LEAST_ROOM.get(kind, 0), "room")
    size = data_size(m, form.tail, len(rest.left))
    m["data"] = rest.take(size)
    if kind == LISTED:
        must(m["recovering"] <= 1 and (not m["next"] or m["next"] > m["cursor"]), "page")
        check_objects(m["data"])
    rest.zeroes(pad8(size) - size)
    m["room"] = len(rest.left)
    must(kind in ROOMY or m["room"] == (pad8(piece_size(m)) if kind == FETCH else 0), "length")
    rest.zeroes(m["room"])


def read_head(d):
    must(HEAD + TAG <= len(d) <= LONGEST and len(d) % 8 == 0, "length")
    m = dict(zip(HEAD_FIELDS, struct.unpack(HEAD_FORM, d[:HEAD])))
    if m.pop("version") != 2:
        raise OtherVersion()
    rest = Rest(d[HEAD:-TAG])
    name_len = m.pop("name_len")
    must(name_len <= NAME_MAX, "name too long")
    m["name"] = rest.take(name_len)
    rest.zeroes(pad8(name_len) - name_len)
    must(m["seq"] or not is_request(m["type"]), "seq 0")
    return m, rest


def form_for(m, rest):
    """The form of this head, if it is allowed there."""
    proto, kind, flags = m["proto"], m["type"], m["flags"]
    if kind == VERSION:
        form = VERSION_FORM
    else:
        must(len(rest.left) >= 8, "length")
        if proto not in FORMS and not has_locks(proto):
            must(is_request(kind), "type")
            m["first"] = rest.number(8)
            raise Foreign()
        must(kind in FORMS[LOCKS if has_locks(proto) else proto], "type")
        form = form_of(proto, kind)
        must(proto != OBJECTS or len(m["name"]) <= OBJECT_NAME_MAX, "name too long")
        if proto != OBJECTS:
            must(form.modes[0] <= flags & 7 <= form.modes[1], "mode")
            flags &= ~7
    must(form.named in (None, bool(m["name"])), "name")
    must(not flags & ~form.flags, "flags")
    must(m["arg"] <= form.most, "arg")
    return form


def parse(d):
    """The message in a datagram, its tag unchecked."""
    m, rest = read_head(d)
    form = form_for(m, rest)
    for field, size in form.body:
        if not field:
            rest.zeroes(size)
        else:
            m[field] = rest.take(size) if field.endswith("digest") else rest.number(size)
    for field in form.filled:
        must(m[field], field + " 0")
    if m["type"] == REFUSED:
        must(m["arg"], "reason 0")
        if m["arg"] in (REFUSED_LEASE, REFUSED_BEHIND):
            m["limit"] = rest.number(8)
    elif has_locks(m["proto"]) and form is not VERSION_FORM:
        read_lock(m, rest)
    elif m["proto"] == OBJECTS and m["type"] not in (*COMMON_FORMS, VERSION):
        read_object(m, rest, form)
    rest.end()
    return m


def judge(d):
    """What a reader says of a datagram, in a word; with what a writer makes of its message."""
    try:
        return "ok " + pack(parse(d)).hex()
    except OtherVersion:
        return "version"
    except Foreign:
        return "foreign"
    except Bad:
        return "bad"
