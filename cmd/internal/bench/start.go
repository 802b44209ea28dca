package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// starting is PERF-L2: a cold `verbatim check` of one call with a thousand
// verbs, the wall time of the whole process, beside a Go process that does
// nothing.
func starting() (*race, func(), error) {
	dir, err := os.MkdirTemp("", "verbatim-peers-")
	if err != nil {
		return nil, nil, err
	}
	end := func() { _ = os.RemoveAll(dir) }
	fail := func(err error) (*race, func(), error) {
		end()
		return nil, nil, err
	}

	program, nothing := filepath.Join(dir, "verbatim"), filepath.Join(dir, "nothing")
	source := filepath.Join(dir, "nothing.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return fail(err)
	}
	for _, build := range []struct{ in, output, input string }{
		{"../../..", program, "./cmd/verbatim"},
		{"", nothing, source},
	} {
		cmd := exec.Command("go", "build", "-o", build.output, build.input)
		cmd.Dir = build.in
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fail(fmt.Errorf("%v: %s", err, out))
		}
	}
	files := palettes(1000)
	if err := os.CopyFS(filepath.Join(dir, "verbs"), files); err != nil {
		return fail(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "one.dsl"), []byte(fiveArgs(500)+"\n"), 0o600); err != nil {
		return fail(err)
	}
	process := func(name string, args ...string) func() error {
		return func() error {
			cmd := exec.Command(name, args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("%s: %v: %s", name, err, out)
			}
			return nil
		}
	}
	times := func(once func() error) func(int) {
		return func(n int) {
			for range n {
				if err := once(); err != nil {
					panic(err)
				}
			}
		}
	}
	check, version, empty := process(program, "check", "one.dsl"), process(program, "version"), process(nothing)
	for _, once := range []func() error{check, version, empty} {
		if err := once(); err != nil {
			return fail(err)
		}
	}
	ours := &contestant{name: "verbatim check, one call, 1 000 verbs", per: 1, run: times(check)}
	bare := &contestant{name: "verbatim version", per: 1, run: times(version)}
	none := &contestant{name: "a Go program that does nothing", per: 1, run: times(empty)}
	return &race{
		name:        "Starting the program",
		contestants: []*contestant{ours, bare, none},
		goals: []goal{
			{"PERF-L2", "time of one check", ours.ns, "ns", false, 40e6},
		},
	}, end, nil
}
