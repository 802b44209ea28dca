package main

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/verbs"
)

// allCodes are the codes of every diagnostic and of every way to stop, sorted.
// A mistake that two packages can find has one code, and is explained by the
// first that does.
func allCodes() []dsl.CodeDoc {
	all := slices.Concat(dsl.Codes(), verbs.Codes(), runtime.Codes(), ownCodes)
	slices.SortStableFunc(all, func(a, b dsl.CodeDoc) int { return strings.Compare(a.Code, b.Code) })
	return slices.CompactFunc(all, func(a, b dsl.CodeDoc) bool { return a.Code == b.Code })
}

// ownCodes are what the command itself stops with. Their examples are command
// lines in the folder of the example bank; those that need a terminal, an
// interruption or a broken disk have none.
var ownCodes = []dsl.CodeDoc{
	{Code: "usage", Meaning: "The command line makes no sense: a flag, a subcommand or a value that does not exist, or two that contradict each other.",
		Wrong: "verbatim check --palletes verbs answer.dsl", Right: "verbatim check --palettes verbs answer.dsl"},
	{Code: "no-such-file", Meaning: "There is no file of that name.",
		Wrong: "verbatim check anwser.dsl", Right: "verbatim check answer.dsl"},
	{Code: "unreadable", Meaning: "The file or directory is there, and this account may not or cannot read it.",
		Wrong: "verbatim check answer.dsl/more.dsl", Right: "verbatim check answer.dsl"},
	{Code: "is-a-directory", Meaning: "A directory was named where a script is wanted.",
		Wrong: "verbatim check verbs", Right: "verbatim lint verbs"},
	{Code: "binary", Meaning: "The file holds zero bytes, so it is no text. A script is a text file in UTF-8.",
		Wrong: "verbatim check verbatim.db", Right: "verbatim check answer.dsl"},
	{Code: "bad-palettes", Meaning: "The palettes to compare with do not load themselves.",
		Wrong: "verbatim lint --against broken verbs", Right: "verbatim lint --against verbs verbs"},
	{Code: "no-such-store", Meaning: "There is no store of that name. Only migrate makes one, so that a misspelt name does not become an empty store.",
		Wrong: "verbatim log show --store nowhere.db", Right: "verbatim log show --store verbatim.db"},
	{Code: "store-version", Meaning: "Another version of this program made the store, and keeps it in another way. It is left as it is: use the version that made it, or load its data into a new store."},
	{Code: "no-such-entry", Meaning: "The journal has no entry of that number.",
		Wrong: "verbatim log show 999999", Right: "verbatim log show"},
	{Code: "no-such-row", Meaning: "No row within the scope of --as has that name or label. What is not there and what somebody may not see are one answer.",
		Wrong: "verbatim log show --row @nobody --as clara", Right: "verbatim log show --row @pierre-dupont-source-of-wealth --as clara"},
	{Code: "ambiguous-row", Meaning: "Rows of several kinds have that name: say which kind is meant, in front of it.",
		Wrong: "verbatim log show --row @pierre-dupont --as clara", Right: "verbatim log show --row 'entity @pierre-dupont' --as clara"},
	{Code: "journal-broken", Meaning: "The journal is not as it was written: an entry was altered, removed, added or put elsewhere, or a file of it was cut. The first entry that is wrong is named.",
		Wrong: "verbatim log verify answer.dsl", Right: "verbatim log verify"},
	{Code: "journal-behind", Meaning: "The journal has fewer entries than a checkpoint knows of: its end was cut off, or an older copy was put back.",
		Wrong: "printf 'x\n3\nAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n\n— x AAAAAAA=\n' > later.txt; verbatim log verify --since later.txt",
		Right: "verbatim log keygen k1 --name bank.example/j && verbatim log checkpoint --sign k1 > now.txt && verbatim log verify --since now.txt"},
	{Code: "journal-forked", Meaning: "The journal is not the one of the checkpoint: it was written anew, with hashes that fit, or the checkpoint is another journal's.",
		Wrong: "verbatim run --as clara answer.dsl > did.txt; printf 'x\n1\nAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n\n— x AAAAAAA=\n' > other.txt; verbatim log verify --since other.txt",
		Right: "verbatim log keygen k2 --name bank.example/j && verbatim log checkpoint --sign k2 > this.txt && verbatim log verify --since this.txt"},
	{Code: "bad-checkpoint", Meaning: "The checkpoint is not one, or no key that is trusted signed it.",
		Wrong: "verbatim log verify --since answer.dsl",
		Right: "verbatim log keygen k3 --name bank.example/j && verbatim log checkpoint --sign k3 > good.txt && verbatim log verify --since good.txt"},
	{Code: "bad-key", Meaning: "The key cannot be read. A private key is a file that log keygen made, a public key is what it printed.",
		Wrong: "verbatim log checkpoint --sign answer.dsl", Right: "verbatim log keygen k4 --name bank.example/j && verbatim log checkpoint --sign k4"},
	{Code: "exists", Meaning: "The file is there already, and is not overwritten.",
		Wrong: "verbatim log keygen answer.dsl --name bank.example/j", Right: "verbatim log keygen fresh.key --name bank.example/j"},
	{Code: "store-mismatch", Meaning: "A table that a palette maps is missing, or is not as the palette says. Tables that exist already are never altered.",
		Wrong: "verbatim migrate --store other.db", Right: "verbatim migrate --store other.db --data bank.sql"},
	{Code: "not-empty", Meaning: "Data is loaded into a fresh store only, and this one holds rows.",
		Wrong: "verbatim migrate --data bank.sql", Right: "verbatim migrate --store fresh.db --data bank.sql"},
	{Code: "bad-sql", Meaning: "The SQL that was to be loaded failed; nothing of it was kept.",
		Wrong: "verbatim migrate --store bad.db --data answer.dsl", Right: "verbatim migrate --store another.db --data bank.sql"},
	{Code: "declined", Meaning: "The question was answered with something other than yes, so nothing was done."},
	{Code: "stopped", Meaning: "It was interrupted before it was committed, so nothing was done. With --each, what was committed before is told, and how to go on."},
	{Code: "timed-out", Meaning: "The time given with --timeout was over before it was committed, so nothing was done; with --each, what was committed before is told.",
		Wrong: "verbatim run --as clara --timeout 1ns answer.dsl", Right: "verbatim run --as clara --timeout 60s note.dsl"},
	{Code: "unknown", Meaning: "The connection broke while it was being committed, so it is unknown whether it was. Sent again with the same --key it is done once, and told; without one, the journal says."},
	{Code: "system", Meaning: "The system failed: the disk, the database, or what it runs on. VERBATIM_TRACE=1 tells what it was."},
	{Code: "internal", Meaning: "This program failed in a way that it should not. VERBATIM_TRACE=1 tells where; please report it."},
}
