-- SPDX-License-Identifier: GPL-2.0
--
-- Datagrams of bftmutex, for Wireshark and tshark: Documentation/integrations.rst says how it is
-- used, Documentation/protocol.rst what is in them. The tables between "begin" and "end" are
-- written by "selftests/static/wire write" from kmod/core.

local PORT, HEAD, TAG, SHORTEST, LONGEST = 7373, 32, 16, 56, 1232
local LOCKS, OBJECTS, TESTS, VERSION = 1, 2, 240, 0xff
local VALUE_MAX, PIECE, SIGNATURE, WAITING, GONE = 64, 1024, 64, 48, 0xffffffff
local NAME_MAX, TYPE_MAX, OBJECT_HEAD = 63, 31, 10
-- Bytes that a request has at least between head and tag, beside its name.
local least_room = { GET = 128, LIST = 128 }
local MAX64, COUNT_MAX = UInt64.fromhex("ffffffffffffffff"), UInt64.fromhex("7fffffffffffffff")

-- Each form: name; 0 without a name, 1 with one, 2 with that of the request; least mode; greatest;
-- bits that may be set in flags; greatest arg; fields and their bytes, "!" for what is not 0.
local forms, flag_names = {}, {}
-- begin: locks
forms.common = {
	[0x01] = { "HELLO", 0, 0, 0, 0, 0, { "", 8, "", 8, "", 8, "features", 4, "", 4 } },
	[0x80] = { "STALE", 2, 0, 0, 0, 0, { "first", 8 } },
	[0x81] = { "CHALLENGE", 0, 0, 0, 0, 0, { "quarantine", 8, "lease_max", 8, "token", 8, "features", 4, "spared", 1, "recovering", 1, "", 2 } },
	[0x86] = { "REFUSED", 2, 0, 0, 0, 255, { "first", 8 } },
	[0xff] = { "VERSION", 0, 0, 0, 0, 255, {} },
}
forms[1] = {
	[0x02] = { "TRY", 1, 1, 5, 56, 5, { "attempt!", 8, "k!", 4, "", 4, "lease!", 8, "prio", 8, "", 8 } },
	[0x03] = { "RELEASE", 1, 0, 0, 96, 0, { "attempt!", 8 } },
	[0x04] = { "YIELD", 1, 0, 0, 0, 5, { "attempt!", 8, "gno", 8 } },
	[0x05] = { "STAMP", 1, 1, 5, 0, 0, { "attempt!", 8, "token!", 8, "", 8 } },
	[0x06] = { "RECOVER", 0, 0, 0, 0, 0, { "", 8, "", 8, "token", 8, "", 8 } },
	[0x07] = { "SYNC", 0, 0, 0, 0, 0, { "incarnation!", 4, "", 4 } },
	[0x08] = { "ASK", 1, 0, 0, 0, 0, { "", 40 } },
	[0x82] = { "FREE", 1, 1, 5, 224, 63, { "attempt!", 8, "k!", 4, "", 4, "gno", 8, "prio", 8, "token", 8 } },
	[0x83] = { "LOCKED", 1, 0, 0, 0, 0, { "attempt!", 8, "gno_low", 4, "", 4, "wait", 8, "prio", 8, "token", 8 } },
	[0x84] = { "WAIT", 1, 0, 0, 128, 0, { "attempt!", 8, "gno_low", 4, "position", 4, "wait", 8, "prio", 8, "token", 8 } },
	[0x85] = { "RELEASED", 1, 0, 0, 0, 0, { "attempt!", 8 } },
	[0x87] = { "INQUIRE", 1, 1, 5, 0, 0, { "attempt!", 8, "k!", 4, "", 4, "gno", 8, "prio", 8, "token", 8 } },
	[0x88] = { "SACK", 1, 0, 0, 0, 63, { "attempt!", 8, "offered", 8, "token", 8 } },
	[0x89] = { "SNACK", 1, 0, 0, 0, 63, { "attempt!", 8, "offered", 8, "token", 8 } },
	[0x8a] = { "SYNCED", 0, 0, 0, 0, 0, { "incarnation!", 4, "", 4 } },
	[0x8b] = { "OWNER", 1, 0, 5, 0, 0, { "attempt", 8, "owner", 4, "waiters", 4, "rest", 8, "holders", 4, "", 4, "token", 8 } },
	[0x8c] = { "PROBE", 1, 1, 5, 0, 0, { "attempt!", 8, "k!", 4, "", 4, "gno", 8, "prio", 8, "token", 8 } },
}
flag_names[1] = { [8] = "NOQUEUE", [16] = "REASSERT", [32] = "VALUE", [64] = "DOUBT", [128] = "DEADLOCK" }
local modes = { [0] = "NL", [1] = "CR", [2] = "CW", [3] = "PR", [4] = "PW", [5] = "EX" }
-- end
-- begin: reasons
local reasons = {
	[1] = "lease outside what the server grants",
	[2] = "lock table full",
	[3] = "client table full",
	[4] = "access denied",
	[5] = "message or protocol not served",
	[6] = "queue of the lock full",
	[7] = "not known which tokens were stamped",
	[8] = "object table or its memory full",
	[9] = "state or operation too long or malformed",
	[10] = "too many operations wait for the object",
	[11] = "this incarnation of the client was evicted",
	[12] = "fencing token above the server's wall clock",
	[13] = "numbers of the client are behind what was taken",
	[14] = "client not in the roll yet",
}
-- end
-- begin: objects
forms[2] = {
	[0x10] = { "SUBMIT", 1, 0, 0, 1, 0, { "op!", 8, "len", 4, "offset", 4, "digest", 32 } },
	[0x11] = { "GET", 1, 0, 0, 2, 0, { "count!", 8, "inc", 4, "from", 4 } },
	[0x12] = { "PROPOSE", 1, 0, 0, 1, 0, { "count!", 8, "inc", 4, "", 4, "of", 8, "len", 4, "", 4, "digest", 32 } },
	[0x13] = { "COMMIT", 1, 0, 0, 1, 0, { "count!", 8, "inc", 4, "", 4, "of", 8, "len", 4, "", 4, "digest", 32 } },
	[0x14] = { "INSTALL", 1, 0, 0, 1, 0, { "count!", 8, "inc", 4, "", 4, "of", 8, "len", 4, "", 4, "digest", 32 } },
	[0x15] = { "FETCH", 1, 0, 0, 0, 0, { "of", 8, "len", 4, "offset", 4, "digest", 32 } },
	[0x16] = { "PUT", 1, 0, 0, 0, 0, { "of", 8, "len", 4, "offset", 4, "digest", 32 } },
	[0x17] = { "COMMIT_GET", 1, 0, 0, 3, 0, { "count!", 8, "inc", 4, "", 4, "of", 8, "len", 4, "", 4, "digest", 32, "next_count!", 8, "next_inc", 4, "from", 4 } },
	[0x18] = { "LIST", 0, 0, 0, 0, 0, { "cursor", 8 } },
	[0x90] = { "RESPONSE", 1, 0, 0, 0, 0, { "op!", 8, "len", 4, "offset", 4 } },
	[0x91] = { "PENDING", 1, 0, 0, 0, 0, { "op!", 8, "len", 4, "offset", 4 } },
	[0x92] = { "GOT", 1, 0, 0, 0, 0, { "count!", 8, "inc", 4, "pending", 4, "committed_of", 8, "committed_len", 4, "", 4, "committed_digest", 32, "proposed_of", 8, "proposed_len", 4, "", 4, "proposed_digest", 32, "by_count", 8, "by_inc", 4, "by_client", 4 } },
	[0x93] = { "RECOVERING", 1, 0, 0, 0, 0, { "count!", 8, "inc", 4, "", 4 } },
	[0x94] = { "PROPOSED", 1, 0, 0, 0, 0, { "count!", 8, "inc", 4, "", 4 } },
	[0x95] = { "COMMITTED", 1, 0, 0, 0, 0, { "count!", 8, "inc", 4, "", 4 } },
	[0x96] = { "INSTALLED", 1, 0, 0, 0, 0, { "count!", 8, "inc", 4, "", 4 } },
	[0x97] = { "EXCEPTION", 1, 0, 0, 2, 0, { "count!", 8, "inc", 4, "", 4, "max_count", 8, "max_inc", 4, "max_client", 4 } },
	[0x98] = { "NEEDBODY", 1, 0, 0, 0, 0, { "first!", 8, "low", 4, "high", 4 } },
	[0x99] = { "BODY", 1, 0, 0, 0, 0, { "of", 8, "len", 4, "offset", 4, "digest", 32 } },
	[0x9a] = { "NOBODY", 1, 0, 0, 0, 0, { "of", 8, "len", 4, "offset", 4, "digest", 32 } },
	[0x9b] = { "STORED", 1, 0, 0, 0, 0, { "of", 8, "len", 4, "offset", 4, "digest", 32 } },
	[0x9c] = { "COMMITTED_GOT", 1, 0, 0, 0, 0, { "count!", 8, "inc", 4, "", 4, "next_count!", 8, "next_inc", 4, "pending", 4 } },
	[0x9d] = { "LISTED", 0, 0, 0, 0, 0, { "cursor", 8, "next", 8, "recovering", 1, "", 7 } },
}
flag_names[2] = { [1] = "BODY", [2] = "SIGNED" }
-- end

local p = Proto("bftmutex", "bftmutex cluster locks")
p.prefs.keys = Pref.string("Key files", "", "Files with the keys of clients (bftmutex-client), with commas between " ..
	"them. With them tags are verified.")

-- ---- Fields ----------------------------------------------------------------------------
local names = {}
for _, list in pairs(forms) do
	for kind, form in pairs(list) do names[kind] = form[1] end
end
local protos = { [LOCKS] = "locks", [OBJECTS] = "objects" }
local f = {
	version = ProtoField.uint8("bftmutex.version", "Version"),
	proto = ProtoField.uint8("bftmutex.proto", "Protocol", base.DEC, protos),
	server = ProtoField.uint16("bftmutex.server", "Server"),
	cluster = ProtoField.uint32("bftmutex.cluster", "Cluster"),
	epoch = ProtoField.uint64("bftmutex.epoch", "Epoch", base.HEX),
	client = ProtoField.uint32("bftmutex.client", "Client"),
	type = ProtoField.uint8("bftmutex.type", "Message", base.HEX, names),
	name_len = ProtoField.uint8("bftmutex.name_len", "Length of name"),
	flags = ProtoField.uint8("bftmutex.flags", "Flags", base.HEX),
	mode = ProtoField.uint8("bftmutex.mode", "Mode", base.DEC, modes, 7),
	arg = ProtoField.uint8("bftmutex.arg", "Arg"),
	reason = ProtoField.uint8("bftmutex.reason", "Reason", base.DEC, reasons),
	seq = ProtoField.uint64("bftmutex.seq", "Number", base.HEX),
	name = ProtoField.string("bftmutex.name", "Name"),
	limit = ProtoField.uint64("bftmutex.limit", "Limit"),
	value_k = ProtoField.uint32("bftmutex.value_k", "Value: send"),
	value_len = ProtoField.uint8("bftmutex.value_len", "Value: length"),
	value_room = ProtoField.uint8("bftmutex.value_room", "Value: room"),
	value = ProtoField.bytes("bftmutex.value", "Value"),
	signature = ProtoField.bytes("bftmutex.signature", "Signature"),
	data = ProtoField.bytes("bftmutex.data", "Data"),
	tag = ProtoField.bytes("bftmutex.tag", "Tag"),
	tag_right = ProtoField.bool("bftmutex.tag_right", "Tag is right"),
	request_in = ProtoField.framenum("bftmutex.request_in", "Request in", base.NONE, frametype.REQUEST),
	answer_in = ProtoField.framenum("bftmutex.answer_in", "Answer in", base.NONE, frametype.RESPONSE),
	time = ProtoField.double("bftmutex.time", "Seconds since the request"),
}
local is_duration = { quarantine = 1, lease_max = 1, lease = 1, wait = 1, rest = 1 }
local is_numbered = { attempt = 1, first = 1, op = 1, gno = 1, gno_low = 1, inc = 1, next_inc = 1 }
local field_types = { ProtoField.uint8, nil, nil, ProtoField.uint32, [8] = ProtoField.uint64, [32] = ProtoField.bytes }
for _, list in pairs(forms) do
	for _, form in pairs(list) do
		for i = 1, #form[7], 2 do
			local name = form[7][i]:gsub("!", "")
			if name ~= "" and not f[name] then
				local label = name:sub(1, 1):upper() .. name:sub(2):gsub("_", " ")
				f[name] = field_types[form[7][i + 1]]("bftmutex." .. name, label .. (is_duration[name] and " (ns)" or ""),
					is_numbered[name] and base.HEX or nil)
			end
		end
	end
end
for _, list in ipairs(flag_names) do
	for bit, name in pairs(list) do f["flag " .. name] = ProtoField.bool("bftmutex.flag." .. name:lower(), name, 8, nil, bit) end
end
p.fields = f
local wrong_form = ProtoExpert.new("bftmutex.wrong_form", "Wrong form", expert.group.MALFORMED, expert.severity.ERROR)
local wrong_tag = ProtoExpert.new("bftmutex.wrong_tag", "Wrong tag", expert.group.CHECKSUM, expert.severity.WARN)
local other_version = ProtoExpert.new("bftmutex.other_version", "Another version", expert.group.PROTOCOL,
	expert.severity.NOTE)
p.experts = { wrong_form, wrong_tag, other_version }

-- ---- Tags ------------------------------------------------------------------------------
local keys, keys_of = {}, nil

local function word_of_hex(hex)		-- little-endian
	return UInt64.fromhex((hex:gsub("(%x%x)(%x%x)(%x%x)(%x%x)(%x%x)(%x%x)(%x%x)(%x%x)", "%8%7%6%5%4%3%2%1")))
end

local function read_keys(path)
	local file = io.open(path)
	local text = file and file:read("*a") or ""
	if file then file:close() end
	local cluster, client = text:match("cluster%s*=%s*(%d+)"), text:match("client%s*=%s*(%d+)")
	for server, key in text:gmatch("server%s+(%d+)%s*{%s*key%s*=%s*\"(%x+)\"") do
		local word = {}
		for part in key:gmatch(("%x"):rep(16)) do word[#word + 1] = word_of_hex(part) end
		if cluster and client and #word == 4 then
			local who = cluster .. " " .. client .. " " .. server
			keys[who .. " request"], keys[who .. " reply"] = { word[1], word[2] }, { word[3], word[4] }
		end
	end
end

local function load_keys()
	if keys_of == p.prefs.keys then return end
	keys, keys_of = {}, p.prefs.keys
	for path in keys_of:gmatch("[^,]+") do read_keys(path) end
end

-- SipHash-2-4-128 of bytes whose number is a multiple of 8, as two words.
local function siphash(key, bytes)
	local a = key[1]:bxor(UInt64.fromhex("736f6d6570736575"))
	local b = key[2]:bxor(UInt64.fromhex("646f72616e646f6d")):bxor(UInt64(0xee))
	local c = key[1]:bxor(UInt64.fromhex("6c7967656e657261"))
	local d = key[2]:bxor(UInt64.fromhex("7465646279746573"))
	local function rounds(n)
		for _ = 1, n do
			a = a + b; b = b:rol(13):bxor(a); a = a:rol(32)
			c = c + d; d = d:rol(16):bxor(c)
			a = a + d; d = d:rol(21):bxor(a)
			c = c + b; b = b:rol(17):bxor(c); c = c:rol(32)
		end
	end
	local function word(w)
		d = d:bxor(w); rounds(2); a = a:bxor(w)
	end
	for at = 0, bytes:len() - 8, 8 do word(bytes(at, 8):le_uint64()) end
	word(UInt64(0, bytes:len() % 256 * 0x1000000))
	c = c:bxor(UInt64(0xee)); rounds(4)
	local low = a:bxor(b):bxor(c):bxor(d)
	b = b:bxor(UInt64(0xdd)); rounds(4)
	return low, a:bxor(b):bxor(c):bxor(d)
end

-- true, false, or nil: there is no key
local function tag_is_right(tvb, m)
	load_keys()
	local key = keys[("%d %d %d %s"):format(m.cluster, m.client, m.server, m.request and "request" or "reply")]
	if not key then return nil end
	local at = tvb:len() - TAG
	local low, high = siphash(key, tvb(0, at))
	return low == tvb(at, 8):le_uint64() and high == tvb(at + 8, 8):le_uint64()
end

-- ---- Forms -----------------------------------------------------------------------------
local function pad8(n) return math.ceil(n / 8) * 8 end
local function has_bit(flags, bit) return flags % (2 * bit) >= bit end
local function has_locks(proto) return proto == LOCKS or proto >= TESTS end

local function read_head(tvb)
	local m = {
		version = tvb(0, 1):uint(), proto = tvb(1, 1):uint(), server = tvb(2, 2):le_uint(),
		cluster = tvb(4, 4):le_uint(), client = tvb(16, 4):le_uint(), type = tvb(20, 1):uint(),
		name_len = tvb(21, 1):uint(), flags = tvb(22, 1):uint(), arg = tvb(23, 1):uint(),
		seq = tvb(24, 8):le_uint64(), at = HEAD, stop = tvb:len() - TAG, fields = {}, value = {},
	}
	m.request, m.pushed = m.type < 0x80, m.seq == UInt64(0)
	local of_proto = has_locks(m.proto) and LOCKS or m.proto
	m.of_proto = of_proto
	m.form = forms.common[m.type] or (forms[of_proto] or {})[m.type]
	if m.type ~= VERSION and not forms[of_proto] then m.form = nil end
	return m
end

-- Each of these returns what is wrong, or nothing.
local function take(m, name, size)
	if size > m.stop - m.at then return "it is too short" end
	m.fields[#m.fields + 1] = { name, m.at, size }
	m.at = m.at + size
end

local function zeroes(tvb, m, size)
	if size > m.stop - m.at then return "it is too short" end
	for at = m.at, m.at + size - 1 do
		if tvb(at, 1):uint() ~= 0 then return ("byte %d must be 0"):format(at) end
	end
	m.at = m.at + size
end

local function wrong_head(tvb, m)
	local len, form = tvb:len(), m.form
	if len % 8 ~= 0 or len > LONGEST or len < (m.type == VERSION and HEAD + TAG or SHORTEST) then
		return "its length"
	elseif m.name_len > (m.proto == OBJECTS and 63 or 64) then
		return "its name is too long"
	elseif m.request and m.pushed then
		return "its number is 0"
	end
	local wrong = m.name_len > 0 and take(m, "name", m.name_len) or zeroes(tvb, m, pad8(m.name_len) - m.name_len)
	if wrong then return wrong end
	if not form then return forms[m.of_proto] and "no such message" or nil end
	local flags, mode = m.flags, 0
	if m.of_proto == LOCKS and m.type ~= VERSION then
		mode = flags % 8
		flags = flags - mode
	end
	if form[2] ~= 2 and (form[2] == 1) ~= (m.name_len > 0) then
		return form[2] == 1 and "it needs a name" or "it has no name"
	elseif mode < form[3] or mode > form[4] then
		return "its mode"
	elseif bit32.band(flags, 255 - form[5]) ~= 0 then
		return "its flags"
	elseif m.arg > form[6] then
		return "its arg"
	end
end

local function wrong_body(tvb, m)
	local body = m.form[7]
	for i = 1, #body, 2 do
		local name, size = body[i]:gsub("!", ""), body[i + 1]
		local at = m.at
		local wrong
		if name == "" then wrong = zeroes(tvb, m, size) else wrong = take(m, name, size) end
		if wrong then return wrong end
		if name ~= "" and size <= 8 then m.value[name] = size == 8 and tvb(at, 8):le_uint64() or tvb(at, size):le_uint() end
		if body[i]:sub(-1) == "!" and (m.value[name] == 0 or m.value[name] == UInt64(0)) then return name .. " is 0" end
	end
end

local function wrong_value(tvb, m)
	local at = m.at
	local wrong = take(m, "value_k", 4) or take(m, "value_len", 1) or take(m, "value_room", 1) or zeroes(tvb, m, 2)
	if wrong then return wrong end
	local k, len, room = tvb(at, 4):le_uint(), tvb(at + 4, 1):uint(), tvb(at + 5, 1):uint()
	if room % 8 ~= 0 or room > VALUE_MAX or len > VALUE_MAX or
			(m.request and (len > room or (k == 0 and len > 0))) or
			(not m.request and (k ~= 0 or (room ~= 0 and room ~= pad8(len)))) then
		return "its value"
	end
	local kept = len <= room and len or 0
	return kept > 0 and take(m, "value", kept) or zeroes(tvb, m, room - kept)
end

local function wrong_lock(tvb, m)
	local name = m.form[1]
	local doubt, value = has_bit(m.flags, 64), has_bit(m.flags, 32)
	if (name == "STAMP" or name == "RECOVER") and m.value.token == MAX64 then
		return "its token"
	elseif name == "FREE" and doubt and not value then
		return "DOUBT without VALUE"
	elseif (name == "FREE" or name == "SACK" or name == "SNACK") and has_bit(m.arg, 1) then
		return "NL in a set of modes"
	elseif value then
		return wrong_value(tvb, m)
	end
end

local may_have_room = { SUBMIT = 1, GET = 1, PROPOSE = 1, COMMIT = 1, INSTALL = 1, COMMIT_GET = 1, LIST = 1 }
local is_piece = { FETCH = 1, PUT = 1, BODY = 1 }

-- Bytes of data; nil: that is wrong.
local function data_size(m, left)
	local name, v = m.form[1], m.value
	if is_piece[name] then
		if v.offset % PIECE ~= 0 or v.offset >= v.len then return nil end
		return name == "FETCH" and 0 or math.min(PIECE, v.len - v.offset)
	elseif name == "RESPONSE" then
		return math.min(v.len == GONE and 0 or math.max(v.len - v.offset, 0), left)
	elseif name == "LISTED" then
		return left
	elseif name == "GOT" or name == "COMMITTED_GOT" then
		return left % WAITING == 0 and left or nil
	elseif has_bit(m.flags, 1) then
		return (name ~= "SUBMIT" or v.offset == 0) and v.len or nil
	end
	return 0
end

-- The objects in LISTED: version (8), lengths of name and type (1 each), both, zeroes up to 8.
local function wrong_objects(tvb, at, stop)
	while at < stop do
		local name, kind = tvb(at + 8, 1):uint(), tvb(at + 9, 1):uint()
		local size = OBJECT_HEAD + name + kind
		if tvb(at, 8):le_uint64() == UInt64(0) or name == 0 or name > NAME_MAX or kind > TYPE_MAX or
				pad8(size) > stop - at then
			return true
		end
		for i = at + size, at + pad8(size) - 1 do
			if tvb(i, 1):uint() ~= 0 then return true end
		end
		at = at + pad8(size)
	end
end

local function wrong_object(tvb, m)
	local name, v = m.form[1], m.value
	if m.request and ((v.count and v.count > COUNT_MAX) or (v.next_count and v.next_count > COUNT_MAX)) then
		return "its count"
	elseif name == "COMMIT_GET" and v.next_count <= v.count then
		return "its next count"
	elseif m.stop - HEAD - pad8(m.name_len) < (least_room[name] or 0) then
		return "it has no room for its answer"
	elseif name == "LISTED" and v.recovering > 1 then
		return "its recovering"
	elseif name == "LISTED" and v.next ~= UInt64(0) and v.next <= v.cursor then
		return "its next"
	end
	local wrong = has_bit(m.flags, 2) and take(m, "signature", SIGNATURE)
	if wrong then return wrong end
	local size = data_size(m, m.stop - m.at)
	if not size or (name == "LISTED" and wrong_objects(tvb, m.at, m.stop)) then return "its data" end
	wrong = (size > 0 and take(m, "data", size)) or zeroes(tvb, m, pad8(size) - size)
	if wrong then return wrong end
	local room = m.stop - m.at
	if name == "FETCH" then
		if room ~= pad8(math.min(PIECE, v.len - v.offset)) then return "its room" end
	elseif room > 0 and not may_have_room[name] then
		return "it is too long"
	end
	return zeroes(tvb, m, room)
end

local function wrong_parts(tvb, m)
	local name, wrong = m.form[1], nil
	if name == "REFUSED" then
		if m.arg == 0 then return "it has no reason" end
		wrong = (m.arg == 1 or m.arg == 13) and take(m, "limit", 8)
	elseif m.of_proto == LOCKS and m.type ~= VERSION then
		wrong = wrong_lock(tvb, m)
	elseif forms[OBJECTS][m.type] then
		wrong = wrong_object(tvb, m)
	end
	return wrong or (m.at ~= m.stop and "it is too long" or nil)
end

local function wrong_foreign(m)
	if not m.request then return "no such message" end
	return take(m, "first", 8)
end

local function read_message(tvb, m)
	m.wrong = wrong_head(tvb, m)
	if not m.wrong and m.form then
		m.wrong = wrong_body(tvb, m) or wrong_parts(tvb, m)
	elseif not m.wrong then
		m.wrong = wrong_foreign(m)
	end
end

-- ---- Requests and answers --------------------------------------------------------------
local requests, answers = {}, {}
function p.init()
	requests, answers, keys_of = {}, {}, nil
end

local function link(m, pinfo, tree)
	if m.pushed or m.wrong then return end
	local who = ("%d %d %d %s"):format(m.cluster, m.client, m.server, m.seq:tohex())
	if not pinfo.visited then
		local list = m.request and requests or answers
		list[who] = list[who] or { frame = pinfo.number, time = pinfo.abs_ts }
	end
	local other = (m.request and answers or requests)[who]
	if not other then return end
	tree:add(m.request and f.answer_in or f.request_in, other.frame):set_generated()
	if not m.request then tree:add(f.time, pinfo.abs_ts - other.time):set_generated() end
end

-- ---- What is shown ---------------------------------------------------------------------
local function printable(bytes)
	return (bytes:gsub("[^\32-\126]", function(byte) return ("\\x%02x"):format(byte:byte()) end))
end

local function show_head(tvb, m, tree)
	tree:add(f.version, tvb(0, 1))
	tree:add(f.proto, tvb(1, 1))
	tree:add_le(f.server, tvb(2, 2))
	tree:add_le(f.cluster, tvb(4, 4))
	tree:add_le(f.epoch, tvb(8, 8))
	tree:add_le(f.client, tvb(16, 4))
	tree:add(f.type, tvb(20, 1)):append_text(m.pushed and not m.request and ", pushed" or "")
	tree:add(f.name_len, tvb(21, 1))
	local flags = tree:add(f.flags, tvb(22, 1))
	if m.form and m.form[4] > 0 then flags:add(f.mode, tvb(22, 1)) end
	for bit = 0, 7 do
		local name = m.form and has_bit(m.form[5], 2 ^ bit) and flag_names[m.of_proto][2 ^ bit]
		if name then flags:add(f["flag " .. name], tvb(22, 1)) end
	end
	tree:add(f.arg, tvb(23, 1))
	if m.form and m.form[1] == "REFUSED" then tree:add(f.reason, tvb(23, 1)) end
	tree:add_le(f.seq, tvb(24, 8))
end

local function show_fields(tvb, m, tree)
	for _, field in ipairs(m.fields) do
		local name, range = field[1], tvb(field[2], field[3])
		if name == "name" then
			tree:add(f.name, range, printable(range:raw()))
		elseif field[3] > 8 or name == "value" or name == "data" then
			tree:add(f[name], range)
		else
			local item = tree:add_le(f[name], range)
			if is_duration[name] and m.value[name] ~= MAX64 then
				item:append_text((" (%.6f s)"):format(m.value[name]:tonumber() / 1e9))
			end
		end
	end
end

local function show_tag(tvb, m, tree)
	local item = tree:add(f.tag, tvb(tvb:len() - TAG, TAG))
	local right = tag_is_right(tvb, m)
	if right == nil then return end
	item:add(f.tag_right, right):set_generated()
	if not right then item:add_proto_expert_info(wrong_tag) end
end

-- What the message is, about what, between whom.
local function described(m, tvb)
	local form, first = m.form, m.fields[1]
	local text = form and form[1] or ("message 0x%02x"):format(m.type)
	if first and first[1] == "name" then text = text .. " " .. printable(tvb(first[2], first[3]):raw()) end
	if form and form[4] > 0 then text = text .. " " .. (modes[m.flags % 8] or "?") end
	if form and form[1] == "REFUSED" then text = text .. ": " .. (reasons[m.arg] or "?") end
	if m.pushed and not m.request then text = text .. ", pushed" end
	return ("%s, client %d %s server %d%s"):format(text, m.client, m.request and ">" or "<", m.server,
		m.wrong and " [wrong form]" or "")
end

local function show_other_version(tvb, pinfo, tree)
	local version = tvb(0, 1):uint()
	pinfo.cols.info = ("version %d of the format"):format(version)
	tree:add(f.version, tvb(0, 1))
	tree:add_proto_expert_info(other_version, "Version " .. version .. ": this dissector knows version 2")
end

function p.dissector(tvb, pinfo, tree)
	if tvb:reported_len() < 1 or tvb:captured_len() < tvb:reported_len() then return 0 end
	pinfo.cols.protocol = "BFTMUTEX"
	local root = tree:add(p, tvb())
	if tvb(0, 1):uint() ~= 2 then
		show_other_version(tvb, pinfo, root)
	elseif tvb:len() < HEAD + TAG then
		pinfo.cols.info = "too short [wrong form]"
		root:add_proto_expert_info(wrong_form, "Wrong form: its length")
	else
		local m = read_head(tvb)
		read_message(tvb, m)
		pinfo.cols.info = described(m, tvb)
		root:append_text(": " .. described(m, tvb))
		show_head(tvb, m, root)
		show_fields(tvb, m, root)
		show_tag(tvb, m, root)
		link(m, pinfo, root)
		if m.wrong then root:add_proto_expert_info(wrong_form, "Wrong form: " .. m.wrong) end
	end
	return tvb:len()
end

DissectorTable.get("udp.port"):add(PORT, p)
