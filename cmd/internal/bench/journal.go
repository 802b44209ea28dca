package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	_ "modernc.org/sqlite"
)

// G23: a journal is verified and carried out again in little memory, however long it is, and in a time that
// is some times what reading it takes.
const (
	journalMemory = 150 << 10 // KiB that are resident
	verifyTimes   = 4.0
	replayTimes   = 15.0
)

// ledger is a palette whose verbs write the entries: one in four adds a row.
const ledger = `domain: desk
roles: [{name: clerk, sees: all}]
entities:
  promise:
    managed: true
    key: promise_id
    scope: self
    label: "{name}"
    fields:
      promise_id: {type: uuid, required: true}
      name: {type: string, required: true}
      note: {type: string}
      times: {type: integer, required: true, default: 0}
verbs:
  - verb: promise
    roles: [clerk]
    args: [{name: name, type: string, required: true}, {name: note, type: string}]
    effects: [{creates: promise, set: {name: name, note: note}}]
  - verb: remind
    roles: [clerk]
    args: [{name: promise-id, type: ref, ref-type: promise, required: true}, {name: note, type: string, required: true}]
    effects: [{updates: promise, where: promise-id, set: {times: row.times + 1, note: note}}]
`

// journalled makes a store with so many entries, in dir, and measures log verify and log replay of it.
// A store that is there is measured again.
func journalled(entries int, dir string) error {
	program, store, palettes := filepath.Join(dir, "verbatim"), filepath.Join(dir, "ledger.db"), filepath.Join(dir, "verbs")
	build := exec.Command("go", "build", "-o", program, "./cmd/verbatim")
	build.Dir, build.Env = filepath.Join("..", "..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := os.MkdirAll(palettes, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(palettes, "desk.yaml"), []byte(ledger), 0o644); err != nil {
		return err
	}
	does := func(in string, args ...string) (*os.ProcessState, error) {
		cmd := exec.Command(program, append(args, "--store", store, "--palettes", palettes)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return cmd.ProcessState, err
	}
	if _, err := does("", "migrate"); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", store)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT OR IGNORE INTO verbatim_principal (name) VALUES ('kim'); INSERT OR IGNORE INTO verbatim_grant (principal, role) VALUES ('kim', 'clerk')`); err != nil {
		return err
	}
	var had int
	if err := db.QueryRow(`SELECT count(*) FROM verbatim_journal`).Scan(&had); err != nil {
		return err
	}
	const atOnce = 2000
	for ; had < entries; had += atOnce {
		var script bytes.Buffer
		for n := range atOnce / 4 {
			fmt.Fprintf(&script, "desk.promise :name \"Promise %d\" :note \"Begun on Monday, for the accountant of the second quarter\" :as @p%d\n", had/4+n, n)
			for again := range 3 {
				fmt.Fprintf(&script, "desk.remind :promise-id @p%d :note \"Reminded a %d. time, and told of what is due until the end of the month\"\n", n, again+1)
			}
		}
		if _, err := does(script.String(), "run", "-", "--as", "kim"); err != nil {
			return err
		}
	}
	// The three take turns, so that a machine that is busy is so for each.
	const rounds = 3
	var read, verify, replay []time.Duration
	var most [2]int64
	for range rounds {
		took, err := readColumns(db)
		if err != nil {
			return err
		}
		read = append(read, took)
		for i, of := range []string{"verify", "replay"} {
			state, err := does("", "log", of)
			if err != nil {
				return err
			}
			most[i] = max(most[i], state.SysUsage().(*syscall.Rusage).Maxrss)
			if took = state.UserTime() + state.SystemTime(); i == 0 {
				verify = append(verify, took)
			} else {
				replay = append(replay, took)
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d entries\tprocessor time\ttimes a read and its sha256\tgoal\tresident\tgoal\n", had)
	fmt.Fprintf(w, "a read of the columns, and their sha256\t%s\t\n", median(read).Round(time.Millisecond))
	var missed []string
	for i, of := range []struct {
		name  string
		took  []time.Duration
		times float64
	}{{"log verify", verify, verifyTimes}, {"log replay", replay, replayTimes}} {
		times := float64(median(of.took)) / float64(median(read))
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.0f\t%d MiB\t%d MiB\n", of.name, median(of.took).Round(time.Millisecond), times, of.times, most[i]>>10, journalMemory>>10)
		if times > of.times || most[i] > journalMemory {
			missed = append(missed, of.name)
		}
	}
	_ = w.Flush()
	if len(missed) > 0 {
		return errors.New("the goal is missed by " + strings.Join(missed, " and "))
	}
	return nil
}

// readColumns reads the columns of the journal and of its log by the bare driver, and returns the processor
// time that this and the sha256 of the texts took.
func readColumns(db *sql.DB) (time.Duration, error) {
	began, sum := spent().here, sha256.New()
	for _, table := range []string{"verbatim_journal", "verbatim_leaf"} {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			return 0, err
		}
		columns, err := rows.Columns()
		if err != nil {
			return 0, err
		}
		texts, at := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range texts {
			at[i] = &texts[i]
		}
		for rows.Next() {
			if err := rows.Scan(at...); err != nil {
				return 0, err
			}
			for _, text := range texts {
				_, _ = io.Copy(sum, bytes.NewReader(text))
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return 0, err
		}
	}
	return spent().here - began, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
