# SPDX-License-Identifier: GPL-2.0
# The part of JSON Schema that the files in Documentation/schemas use; selftests/static/schemas
# compares it with a complete implementation.
#
# lib/schemas.sh runs it.

# is(KIND): is the value one?
def is($kind):
	if $kind == "integer" then type == "number" and (tojson | test("^-?[0-9]+$"))
	else type == $kind end;

# wrong($all; $file; $schema; $at): a line for each violation of the schema by the value
def wrong($all; $file; $schema; $at):
	. as $value |
	(if $schema | has("$ref") then
		($schema["$ref"] | split("#")) as $ref |
		(if $ref[0] == "" then $file else $ref[0] end) as $other |
		wrong($all; $other; $all[$other] | getpath($ref[1] | split("/")[1:]); $at)
	else empty end),
	(if $schema | has("type") then
		if any([$schema.type] | flatten | .[]; . as $kind | $value | is($kind)) then empty
		else "\($at) is \($value | tojson), no \([$schema.type] | flatten | join(" or "))" end
	else empty end),
	(if ($schema | has("enum")) and ([$schema.enum[] == $value] | any | not) then
		"\($at) is \($value | tojson), none of \($schema.enum | tojson)"
	else empty end),
	(if ($schema | has("pattern")) and type == "string" and (test($schema.pattern) | not) then
		"\($at) is \($value | tojson), not like \($schema.pattern)"
	else empty end),
	(if ($schema | has("minimum")) and type == "number" and . < $schema.minimum then
		"\($at) is \($value | tojson), below \($schema.minimum)"
	else empty end),
	(if ($schema | has("anyOf")) and
	    all($schema.anyOf[]; . as $one | [$value | wrong($all; $file; $one; $at)] | length > 0) then
		"\($at) is none of those it may be: \($value | tojson)"
	else empty end),
	(if type == "object" then
		(($schema.required // [])[] | select(. as $key | $value | has($key) | not) |
			"\($at) lacks \(.)"),
		(if $schema.additionalProperties == false then
			keys[] | select(. as $key | $schema.properties | has($key) | not) |
			"\($at) has \(.)"
		else empty end),
		(($schema.properties // {}) | to_entries[] | .key as $key | .value as $one |
			select($value | has($key)) |
			$value[$key] | wrong($all; $file; $one; "\($at).\($key)"))
	else empty end),
	(if type == "array" and ($schema | has("items")) then
		range(length) as $i | .[$i] | wrong($all; $file; $schema.items; "\($at)[\($i)]")
	else empty end);

# First a line { "FILE": schema, ... }, then { "schema": NAME, "output": ... } for each output.
input as $all | inputs | .schema as $name |
if $all | has("\($name).json") then
	.output | wrong($all; "\($name).json"; $all["\($name).json"]; $name)
else
	"\($name): there is no such schema"
end
