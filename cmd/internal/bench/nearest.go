package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"verbatim/stores"
	"verbatim/stores/search"
)

// pglitePath is where `make pglite` puts PGlite and its pgvector.
const pglitePath = "../../../.cache/pglite"

//go:embed pglite.mjs
var pgliteScript []byte

// A pglite is PostgreSQL built for WebAssembly, with pgvector, in a process of node's.
type pglite struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	dir string
	is  string // what it says it is
}

// openPGlite fills one with the vectors of the deal that is asked about: it has no scope to
// keep to.
func (m *room) openPGlite(questions [][]float32) (p *pglite, err error) {
	modules, err := filepath.Abs(filepath.Join(pglitePath, "node_modules"))
	if err == nil {
		_, err = os.Stat(filepath.Join(modules, "@electric-sql", "pglite-pgvector"))
	}
	node, lookErr := exec.LookPath("node")
	if err = errors.Join(err, lookErr); err != nil {
		return nil, errNoServer{"PGlite is not there: make pglite fetches it"}
	}
	p = &pglite{}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.dir, err = os.MkdirTemp("", "verbatim-peers-"); err != nil {
		return p, err
	}
	asked, err := json.Marshal(questions)
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, "questions.json"), asked, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, "pglite.mjs"), pgliteScript, 0o600)
	}
	if err == nil {
		err = os.Symlink(modules, filepath.Join(p.dir, "node_modules"))
	}
	for n := 0; n < len(m.texts) && err == nil; n += 10_000 {
		err = os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("rows-%06d.bin", n)), m.copied(n, min(n+10_000, len(m.texts))), 0o600)
	}
	if err != nil {
		return p, err
	}
	p.cmd = exec.Command(node, "pglite.mjs", ".", "questions.json")
	p.cmd.Dir = p.dir
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	p.cmd.Stderr = &said
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return p, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return p, err
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 16<<20)
	if err = p.cmd.Start(); err != nil {
		return p, err
	}
	var about struct {
		Is   string
		Rows int
	}
	if err = p.read(&about); err == nil && about.Rows != len(m.texts) {
		err = fmt.Errorf("PGlite has %d rows", about.Rows)
	}
	if p.is = about.Is; err != nil {
		err = fmt.Errorf("%w: %.2000s", err, said.String())
	}
	return p, err
}

// copied are rows as COPY reads them: the key, and the vector as pgvector's binary form.
func (m *room) copied(from, to int) []byte {
	b := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	for i := from; i < to; i++ {
		key, _ := hex.DecodeString(strings.ReplaceAll(bankKey(aFinding, i).Text(), "-", ""))
		v := search.Grams(m.texts[i])
		b = binary.BigEndian.AppendUint16(b, 2)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(key))), key...)
		b = binary.BigEndian.AppendUint32(b, uint32(4+4*len(v)))
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(v))), 0, 0)
		for _, x := range v {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return binary.BigEndian.AppendUint16(b, math.MaxUint16)
}

func (p *pglite) read(into any) error {
	if !p.out.Scan() {
		return errors.Join(p.out.Err(), errors.New("PGlite ended"))
	}
	return json.Unmarshal(p.out.Bytes(), into)
}

// answers has all questions answered: how many milliseconds each took, and the keys.
func (p *pglite) answers() (ms []float64, found [][]string, err error) {
	if _, err := fmt.Fprintln(p.in, "again"); err != nil {
		return nil, nil, err
	}
	var a struct {
		MS    []float64
		Found [][]string
	}
	err = p.read(&a)
	return a.MS, a.Found, err
}

func (p *pglite) close() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

const (
	ourNear   = "vectors of a SQLite store, in this process, kept in memory since the first question"
	theirNear = "pgvector without an index in PGlite (WebAssembly), timed inside node"
)

// nearest is PERF-S1: the ten rows whose vectors are nearest, among all of one deal. The
// peer is pgvector's exact scan, in PGlite, which is PostgreSQL built for WebAssembly: a
// native build is faster. It is timed inside node, around each query, so that no socket
// and no other process counts. It must find the same rows in the same order. Both have
// been asked once before they are measured, and have the vectors in memory.
func nearest() (*race, func(), error) {
	const findings, questions = 100_000, 20
	m, err := newRoom(findings, questions)
	if err != nil {
		return nil, nil, err
	}
	store, closeFile, err := m.onFile()
	if err != nil {
		return nil, nil, err
	}
	asked := m.meant()
	with := func(theirs *contestant) *race {
		ours, tail := asking(ourNear, questions, func(i int) error {
			_, err := m.ten(store, stores.Match{Near: asked[i], Maker: search.Letters})
			return err
		})
		return &race{
			name:        fmt.Sprintf("The ten nearest of %d vectors of %d numbers, exactly, %d questions", findings, search.Wide, questions),
			contestants: []*contestant{ours, theirs, tail},
			goals: []goal{
				{"PERF-S1", "time over that of pgvector's exact scan in PGlite", func() float64 { return ours.ns() / theirs.ns() }, "x", false, 0.35},
			},
		}
	}
	p, err := m.openPGlite(asked)
	var none errNoServer
	if errors.As(err, &none) {
		return with(absent(theirNear, none)), closeFile, nil
	}
	end := func() {
		if p != nil {
			p.close()
		}
		closeFile()
	}
	if err == nil {
		err = m.sameNearest(store, p, asked)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	fmt.Printf("\nPGlite is %s\n", p.is)
	return with(&contestant{name: theirNear, per: 1, sample: func() (float64, error) {
		ms, _, err := p.answers()
		if err != nil {
			return 0, err
		}
		median, _ := middle(ms)
		return median * 1e6, nil
	}}), end, nil
}

// meant are vectors to ask with: of a text that is nearly one of the room's, which other
// texts have words and parts of words in common with.
func (m *room) meant() (asked [][]float32) {
	for i, q := range m.questions {
		asked = append(asked, search.Grams(m.texts[i*len(m.texts)/len(m.questions)], q))
	}
	return asked
}

// sameNearest reports a question for which the store and PGlite differ.
func (m *room) sameNearest(store stores.Store, p *pglite, asked [][]float32) error {
	_, theirs, err := p.answers()
	if err != nil {
		return err
	}
	if len(theirs) != len(asked) {
		return fmt.Errorf("PGlite answers %d questions of %d", len(theirs), len(asked))
	}
	for i, v := range asked {
		ours, err := m.ten(store, stores.Match{Near: v, Maker: search.Letters})
		if err != nil {
			return err
		}
		if len(ours) != 10 || !slices.Equal(ours, theirs[i]) {
			return fmt.Errorf("question %d finds %v, and PGlite %v", i, ours, theirs[i])
		}
	}
	return nil
}
