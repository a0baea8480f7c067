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
}
flag_names[2] = { [1] = "BODY", [2] = "SIGNED" }
-- end
