// Package torture tests crashes. It runs the engine on real stores in processes of their own, kills
// them, cuts their connections, fails their writes and loses their unflushed data; then it opens
// the rest and counts.
//
// The counts are the same for every fault:
//
//   - lost: a script that was acknowledged, and left nothing;
//   - half: a script of which some calls are there and others are not;
//   - double: a call that is there more than once;
//   - broken: a journal whose chain does not hold, a file that does not open, a
//     journal and rows that contradict each other, or money from nothing.
//
// The package has only tests, and two ways to run them. `make test` runs each for a moment, from a
// fixed seed. `make torture` runs the long versions from a seed of the day, prints one table of the
// tries, their number and the losses, and fails if anything was lost or could not be tried:
//
//	make torture MINUTES=30
//	make torture MINUTES=30 SEED=17 ONLY=PowerLoss
//
// A failure prints the seed that replays it. Only the timing of processes cannot be repeated
// exactly: a replay asks for the same faults at the same points of the same scripts.
//
// The parts:
//
//	bank_test.go      the palette, the rows it begins with, the stores
//	script_test.go    a stream of scripts from a seed
//	child_test.go     the process that is tortured, and what it says
//	judge_test.go     what is counted, and how
//	report_test.go    the table
//	power_test.go     SAFE-R1: power cuts, replayed from what strace saw
//	kill_test.go      SAFE-R2: killed at every point, and at random
//	inject_test.go    SAFE-R3: every write and flush fails in its turn
//	call_test.go      SAFE-R4: every call of the store fails in its turn
//	once_test.go      SAFE-R5, SAFE-C3: one key, one agreement, many who use it
//	cut_test.go       SAFE-R6: the line is cut after every byte
//	storm_test.go     SAFE-R7: partitions, delays, servers that go and come back
//	load_test.go      SAFE-R8: many at once, with faults, and replay equals state
//	plan_test.go      OB15: plans whose processes are killed; plan_judge_test.go counts
//	backup_test.go    SAFE-R13: backups made while somebody writes, and copies
//	release_test.go   SAFE-R10: the stores of every format and release
//	oracle_test.go    SAFE-A2: foreign against absent, on the clock
//
// Tests that need strace or PostgreSQL are skipped where there is none, saying
// so; with TEST_REQUIRE_STRACE=1 and TEST_REQUIRE_POSTGRES=1, which make
// sets, they fail instead.
package torture
