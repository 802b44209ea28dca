package torture

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An event is something that a process asked of the disk, or told the world.
type event struct {
	kind string // "write", "truncate", "sync", "create", "remove", "directory", "said"
	file string // name in the directory
	at   int64  // offset, or length for "truncate"
	data []byte
}

// record is what strace is asked for.
func record(log string) []string {
	return []string{"strace", "-f", "-q", "-o", log, "-xx", "-y", "-s", "1000000", "--seccomp-bpf", "-e", "signal=none",
		"-e", "trace=open,openat,write,pwrite64,pwritev,pwritev2,writev,ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,msync,unlink,unlinkat,rename,renameat,renameat2"}
}

var (
	syscallLine = regexp.MustCompile(`^(\d+)\s+(\w+)\((.*)$`)
	resumedLine = regexp.MustCompile(`^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$`)
	fdArg       = regexp.MustCompile(`^(\d+)<([^>]*)>`)
	quoted      = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?`)
)

// readTrace turns what strace wrote into events on the files of one directory.
// A flush counts when it has returned, and so does a write; what the process
// told the world counts from the moment it began to tell it. Another thread that
// is stopped in between divides a call into two lines.
func readTrace(log, dir string) ([]event, error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var events []event
	begun := make(map[string]string) // by thread: a call that has not returned
	told := func(call, rest string) bool { return call == "write" && strings.HasPrefix(rest, "1<") }
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		var pid, call, rest string
		if m := resumedLine.FindStringSubmatch(line); m != nil {
			pid, call, rest = m[1], m[2], begun[m[1]]+m[3]
			delete(begun, pid)
			if told(call, rest) {
				continue // counted when it began
			}
		} else if m := syscallLine.FindStringSubmatch(line); m != nil {
			pid, call, rest = m[1], m[2], m[3]
			if before, cut := strings.CutSuffix(rest, " <unfinished ...>"); cut {
				begun[pid] = before
				if !told(call, before) {
					continue
				}
				rest = before
			}
		} else {
			continue
		}
		// A call that failed did nothing, and one that a signal broke off is asked
		// for again.
		came := rest[strings.LastIndex(rest, " = ")+1:]
		if strings.HasPrefix(came, "= -1") || strings.HasPrefix(came, "= ?") {
			continue
		}
		e, err := oneCall(call, rest, dir)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", log, n, err)
		}
		events = append(events, e...)
	}
	return events, lines.Err()
}

// SAFE-R1: what is judged rests on these lines, and how they come depends on what
// else the machine does.
func TestATraceIsReadHoweverItIsDivided(t *testing.T) {
	t.Parallel()
	const dir = "/d"
	db := `7<` + hexText(dir+"/bank.db") + `>`
	pipe := `1<` + hexText("pipe:[9]") + `>`
	write := `pwrite64(` + db + `, "` + hexText("page") + `", 4, 4096`
	tell := `write(` + pipe + `, "` + hexText("ack 1\n") + `", 6`
	flush := `fdatasync(` + db
	page := event{kind: "write", file: "bank.db", at: 4096, data: []byte("page")}
	sync := event{kind: "sync", file: "bank.db"}
	ack := event{kind: "said", data: []byte("ack 1\n")}
	for _, c := range []struct {
		name  string
		lines []string
		want  []event
	}{
		{"each in one line", []string{"5 " + write + ") = 4", "5 " + flush + ") = 0", "6 " + tell + ") = 6"}, []event{page, sync, ack}},
		{"padded", []string{"5 " + flush + ")                = 0"}, []event{sync}},
		{"an answer in two lines counts when it begins", []string{
			"6 " + tell + " <unfinished ...>", "5 " + flush + ") = 0", "6 <... write resumed>) = 6",
		}, []event{ack, sync}},
		{"a flush in two lines counts when it has returned", []string{
			"5 " + flush + " <unfinished ...>", "6 " + tell + ") = 6", "5 <... fdatasync resumed>) = 0",
		}, []event{ack, sync}},
		{"a write of a page too", []string{
			"5 " + write + " <unfinished ...>", "6 " + tell + " <unfinished ...>", "6 <... write resumed>) = 6", "5 <... pwrite64 resumed>) = 2",
		}, []event{ack, {kind: "write", file: "bank.db", at: 4096, data: []byte("pa")}}},
		{"what failed did nothing", []string{
			"5 " + flush + ") = -1 EIO (Input/output error)", "5 " + flush + ")      = -1 EIO (Input/output error)",
			"5 " + flush + " <unfinished ...>", "5 <... fdatasync resumed>) = -1 EIO (Input/output error)",
		}, nil},
		{"what a signal broke off is asked again", []string{
			"5 " + flush + ") = ? ERESTARTSYS (To be restarted if SA_RESTART is set)", "5 " + flush + ") = 0",
		}, []event{sync}},
		{"what never returned did nothing", []string{"5 " + flush + " <unfinished ...>", "5 +++ exited with 0 +++"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "trace")
			if err := os.WriteFile(log, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readTrace(log, dir)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func plainText(hex string) (string, error) {
	b := make([]byte, 0, len(hex)/4)
	for i := 0; i+4 <= len(hex); i += 4 {
		c, err := strconv.ParseUint(hex[i+2:i+4], 16, 8)
		if err != nil {
			return "", err
		}
		b = append(b, byte(c))
	}
	return string(b), nil
}

// oneCall understands one line. What it does not understand about a file of the
// directory is an error: a call that is overlooked would be a promise untested.
func oneCall(call, rest, dir string) ([]event, error) {
	name := func(path string) (string, bool) {
		if path == dir {
			return ".", true
		}
		return strings.CutPrefix(path, dir+string(filepath.Separator))
	}
	var of, arg string
	var fd int
	if m := fdArg.FindStringSubmatch(rest); m != nil {
		fd, _ = strconv.Atoi(m[1])
		path, err := plainText(m[2])
		if err != nil {
			return nil, err
		}
		of, _ = strings.CutSuffix(path, " (deleted)")
		arg = strings.TrimPrefix(rest[len(m[0]):], ", ")
	}
	mine, in := name(of)
	switch call {
	case "write", "pwrite64":
		m := quoted.FindStringSubmatchIndex(arg)
		if call == "write" && fd != 1 && !in {
			return nil, nil
		}
		if m == nil || m[4] >= 0 {
			return nil, fmt.Errorf("%s without its data", call)
		}
		data, err := plainText(arg[m[2]:m[3]])
		if err != nil {
			return nil, err
		}
		switch {
		case fd == 1:
			return []event{{kind: "said", data: []byte(data)}}, nil
		case !in:
			return nil, nil
		case call == "write":
			return nil, fmt.Errorf("a write to %s at no place", mine)
		}
		fields := strings.Split(strings.TrimPrefix(arg[m[1]:], ", "), ", ")
		if len(fields) != 2 {
			return nil, fmt.Errorf("a write that cannot be read: %s", arg[m[1]:])
		}
		at, wrote, _ := strings.Cut(fields[1], ")")
		offset, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, err
		}
		_, wrote, _ = strings.Cut(wrote, "= ")
		n, err := strconv.Atoi(strings.TrimSpace(wrote))
		if err != nil || n > len(data) {
			return nil, fmt.Errorf("a write that cannot be read: %s", arg[m[1]:])
		}
		return []event{{kind: "write", file: mine, at: offset, data: []byte(data[:n])}}, nil
	case "ftruncate":
		if !in {
			return nil, nil
		}
		// strace prints all numbers in decimal here.
		size, _, _ := strings.Cut(arg, ")")
		n, err := strconv.ParseInt(size, 0, 64)
		return []event{{kind: "truncate", file: mine, at: n}}, err
	case "fsync", "fdatasync":
		switch {
		case !in:
			return nil, nil
		case mine == ".":
			return []event{{kind: "directory"}}, nil
		}
		return []event{{kind: "sync", file: mine}}, nil
	case "open", "openat", "unlink", "unlinkat":
		m := quoted.FindStringSubmatch(rest)
		if m == nil {
			return nil, nil
		}
		path, err := plainText(m[1])
		if err != nil {
			return nil, err
		}
		mine, in := name(path)
		switch {
		case !in || mine == ".":
			return nil, nil
		case call[0] == 'u':
			return []event{{kind: "remove", file: mine}}, nil
		case strings.Contains(rest, "O_TRUNC"):
			return []event{{kind: "create", file: mine}, {kind: "truncate", file: mine}}, nil
		case strings.Contains(rest, "O_CREAT"):
			return []event{{kind: "create", file: mine}}, nil
		}
		return nil, nil
	}
	if strings.Contains(rest, hexText(dir)) {
		return nil, fmt.Errorf("%s on a file of the store, which nobody here understands", call)
	}
	return nil, nil
}

func hexText(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return b.String()
}

// A disk is what a machine finds after its power was cut: everything that was
// flushed, and of the rest whatever happened to arrive.
type disk struct {
	files map[string]*inode
	names map[string]bool // flushed with the directory
}

type inode struct {
	flushed []byte
	pending []event
	there   bool // its name is in the directory, which may not be flushed
}

// newDisk holds the files that were there and flushed at the beginning.
func newDisk(files map[string][]byte) *disk {
	d := &disk{files: make(map[string]*inode), names: make(map[string]bool)}
	for name, data := range files {
		d.files[name] = &inode{flushed: bytes.Clone(data), there: true}
		d.names[name] = true
	}
	return d
}

// next lets one event happen. Flushes that honest does not accept are lies.
func (d *disk) next(e event, honest bool) {
	// The index of the write-ahead log is shared memory, made anew whenever a
	// file is opened first; a machine that starts again never sees it.
	if strings.HasSuffix(e.file, "-shm") {
		return
	}
	f := d.files[e.file]
	if f == nil && e.file != "" {
		f = new(inode)
		d.files[e.file] = f
	}
	switch e.kind {
	case "create":
		f.there = true
	case "remove":
		f.there = false
	case "write", "truncate":
		f.pending = append(f.pending, e)
	case "sync":
		if honest {
			for _, p := range f.pending {
				f.flushed = p.on(f.flushed)
			}
			f.pending = nil
		}
	case "directory":
		if honest {
			for name, f := range d.files {
				d.names[name] = f.there
				if !f.there {
					delete(d.files, name)
				}
			}
		}
	}
}

// on carries an event out on a file's bytes.
func (e event) on(b []byte) []byte {
	if e.kind == "truncate" {
		if int64(len(b)) >= e.at {
			return b[:e.at:e.at]
		}
		return append(b, make([]byte, e.at-int64(len(b)))...)
	}
	if end := e.at + int64(len(e.data)); int64(len(b)) < end {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[e.at:], e.data)
	return b
}

const sector = 512

// image is what survives a power cut now: of what was not flushed, each sector
// with a chance that is drawn first.
func (d *disk) image(rnd *rand.Rand) map[string][]byte {
	chance := [...]float64{0, 0.1, 0.5, 0.9, 1}[rnd.IntN(5)]
	survives := func() bool { return rnd.Float64() < chance }
	files := make(map[string][]byte)
	for _, name := range sorted(d.files) {
		f := d.files[name]
		there := d.names[name]
		if f.there != there && survives() {
			there = f.there
		}
		if !there {
			continue
		}
		b := bytes.Clone(f.flushed)
		for _, e := range f.pending {
			if e.kind == "truncate" {
				if survives() {
					b = e.on(b)
				}
				continue
			}
			for from := int64(0); from < int64(len(e.data)); {
				to := min(int64(len(e.data)), (e.at+from)/sector*sector+sector-e.at)
				if survives() {
					b = event{at: e.at + from, data: e.data[from:to]}.on(b)
				}
				from = to
			}
		}
		files[name] = b
	}
	return files
}
