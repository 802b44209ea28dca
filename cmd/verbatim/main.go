// Command verbatim checks, formats, explains and runs scripts of calls, whose meaning palettes
// declare:
//
//	verbatim check answer.dsl
//	verbatim run --dry-run --as clara answer.dsl
//
// This package is wiring only: it reads files and flags, calls the library packages and prints
// their results. Each subcommand has a file of its own.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/documents"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/postgres"
)

// Exit codes; see `verbatim help exit-codes`.
const (
	exitDone    = 0
	exitInput   = 1
	exitUsage   = 2
	exitRefused = 3
	exitSystem  = 4
)

// version is set by a release with -ldflags.
var version = ""

func main() {
	if os.Getenv(documents.ChildMark) != "" {
		documents.Child() // reads a file, if this process was started for that
	}
	// Most runs end before there is much to collect. With the default setting, garbage collection
	// takes a third of the time of a check to save a few megabytes.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, world{
		args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr,
		env: os.Getenv, environ: os.Environ(), now: time.Now, random: rand.Reader, terminal: openTerminal,
	})
	stop()
	os.Exit(code)
}

// A world is the program's environment apart from files, so that tests can replace it.
type world struct {
	args     []string
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	environ  []string // as os.Environ has it, to find misspelt names
	now      func() time.Time
	// random is the source of keys.
	random io.Reader
	// terminal opens the terminal to read an answer from, if a person sits at one.
	terminal func(world) (io.ReadCloser, bool)
	// load loads palettes; nil is loadPalettes.
	load func(dir string, beside ...*dsl.Source) (*loaded, error)
	// wraps returns a store in place of the one that was opened; nil leaves it. Tests give one that fails.
	wraps func(stores.Store) stores.Store
}

// An app is one invocation.
type app struct {
	world
	json     bool          // --json
	streams  bool          // --events
	limit    time.Duration // --timeout
	color    string        // --color
	order    []string      // subcommands, as help lists them
	waits    bool          // the command waits for the agreement of somebody else
	sent     *sink
	stands   string                                 // the store that was opened, as the user named it
	strange  string                                 // what a database holds that has no store: see strange
	observe  func(context.Context, engine.Observed) // receives what the engine does; nil except for a server
	agreed   func(context.Context)                  // writes the note of the store; nil until marked has read it
	shares   *slog.Logger                           // logs clock differences; nil except for a server
	behind   func() time.Duration                   // how far the clock here is behind the store's; nil except for a server on a database
	reads    bool                                   // the command changes no store that it opens
	copied   bool                                   // the store that was opened is a temporary copy
	examines bool                                   // verbatim doctor says itself what is wrong with the store
	replica  postgres.Option                        // a replica for reads; nil except for a server
	idle     time.Duration                          // how long a server of tools stays connected that nobody uses; 0 is until the end
	ends     []func()                               // what ends with the program, or with a reading of its configuration
	began    world                                  // the world before anything was read
	command  func(*app) *cobra.Command              // makes the command line; for one that is read again
	given    map[string]string                      // the variables that flags were read from, by the flag
	rereads  func(serveFlags)                       // receives the flags of serve that are read anew; nil to serve
}

// run is the program. main passes the process, and tests something else.
func run(ctx context.Context, w world) (code int) {
	a := &app{world: w, began: w, command: (*app).root}
	a.sent = &sink{w: w.out}
	out := bufio.NewWriter(a.sent)
	a.out = out
	defer func() {
		a.close()
		if p := recover(); p != nil {
			// A panic is our fault. Its stack is printed on request only. The value of a panic may
			// be secret, so only Go's own runtime errors are printed.
			if w.env("VERBATIM_TRACE") != "" {
				var fault goruntime.Error
				if err, ok := p.(error); ok && errors.As(err, &fault) {
					fmt.Fprintln(a.err, fault)
				} else {
					fmt.Fprintf(a.err, "it panicked with a %T\n", p)
				}
				fmt.Fprintf(a.err, "%s", debug.Stack())
			}
			code = a.fail(&stop{exit: exitSystem, code: "internal", text: "the program itself failed; nothing was committed by the call that failed",
				next: "run it again with VERBATIM_TRACE=1 and report what it says"})
		}
		out.Flush()
		if err := a.sent.failed; err != nil && !errors.Is(err, syscall.EPIPE) && code == exitDone {
			fmt.Fprintf(a.err, "verbatim: the result could not be written: %s\n", reason(err))
			code = exitSystem
		}
	}()

	root := a.root()
	root.SetArgs(w.args)
	root.SetIn(w.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	// JSON is wanted even if the flags are wrong, so --json is searched before the flags are
	// parsed.
	for _, arg := range w.args {
		if arg == "--" {
			break
		}
		if arg == "--json" || arg == "--json=true" {
			a.json = true
		}
	}
	if err := a.unknownCommand(root); err != nil {
		return a.fail(err)
	}
	if err := a.readEnvironment(); err != nil {
		return a.fail(err)
	}
	if err := root.ExecuteContext(ctx); err != nil {
		return a.fail(err)
	}
	return exitDone
}

// close ends what ends with the program.
func (a *app) close() {
	for _, end := range a.ends {
		end()
	}
	a.ends = nil
}

// A stop ends the program with a sentence for a person, a code for programs, and a next step.
type stop struct {
	exit int
	code string
	text string
	next string
}

func (s *stop) Error() string { return s.text }

// said ends the program after everything was printed.
type said int

func (said) Error() string { return "" }

func usage(text, next string) error { return &stop{exitUsage, "usage", text, next} }

// broken reports a failure of the system. An interruption by the user is not a failure.
func broken(what string, err error, next string) error {
	var knows interface{ Next() string }
	if errors.As(err, &knows) { // a step of its own
		next = cmp.Or(knows.Next(), next)
	}
	if errors.Is(err, context.Canceled) {
		return &stop{exitRefused, "stopped", what + ": stopped", next}
	}
	return &stop{exitSystem, "system", what + ": " + reason(err), next}
}

// fail prints why the program ends, and returns its exit code.
func (a *app) fail(err error) int {
	var already said
	if errors.As(err, &already) {
		return int(already)
	}
	var s *stop
	if !errors.As(err, &s) {
		s = &stop{exit: exitUsage, code: "usage", text: err.Error(), next: "verbatim --help"}
	}
	if s.exit == exitRefused {
		fmt.Fprintf(a.err, "refused[%s]: %s\n", s.code, s.text)
	} else {
		fmt.Fprintf(a.err, "verbatim: %s\n", s.text)
	}
	if s.next != "" {
		fmt.Fprintf(a.err, "next: %s\n", s.next)
	}
	if a.json {
		a.emit(struct {
			Schema  string `json:"schema"`
			Exit    int    `json:"exit"`
			Code    string `json:"code"`
			Message string `json:"message"`
			Next    string `json:"next,omitempty"`
		}{"verbatim/error@1", s.exit, s.code, s.text, s.next})
	}
	return s.exit
}

// emit writes one JSON document on one line. With events it is the last of them.
func (a *app) emit(document any) {
	if a.streams {
		document = wire.Event{Schema: wire.EventSchema, Event: "reply", Reply: document}
	}
	a.write(document)
}

func (a *app) write(document any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(document)
	if err == nil {
		_, err = a.out.Write(spelt(b.Bytes()))
	}
	if err != nil && a.sent.failed == nil {
		a.sent.failed = err
	}
}

// spelt escapes unprintable characters in a JSON document, so that a terminal shows them. They
// occur only inside strings.
func spelt(document []byte) []byte {
	hidden := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if bytes.IndexFunc(document, hidden) < 0 {
		return document
	}
	out := make([]byte, 0, len(document)+64)
	for _, r := range string(document) {
		switch {
		case !hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// A sink remembers that a write failed: a truncated result is no success.
type sink struct {
	w      io.Writer
	failed error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}

// reason returns the innermost cause of an error, in the words of the operating system.
func reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err.Error()
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:               "verbatim",
		Short:             "Check, preview and run calls whose meaning palettes declare",
		Example:           `verbatim run --dry-run --as clara answer.dsl`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.PersistentFlags().BoolVar(&a.json, "json", a.json, "print JSON and nothing else; see verbatim help json")
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "colour what is said; `when` is auto, always or never")
	root.PersistentFlags().BoolP("help", "h", false, "show how it is used")
	root.PersistentFlags().Lookup("help").Hidden = true
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(a.help)
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		switch a.color {
		case "auto", "always", "never":
			return nil
		}
		return usage(fmt.Sprintf("--color is auto, always or never, not %q", a.color), "verbatim --help")
	}
	// Only the requested subcommand is built, unless the command lists or completes them all.
	some := commands
	if i := slices.IndexFunc(commands, func(c subcommand) bool { return c.name == a.asked() }); i >= 0 && commands[i].name != "help" && commands[i].name != "completion" {
		some = commands[i : i+1]
	}
	for _, c := range some {
		cmd := c.make(a)
		a.order = append(a.order, c.name)
		if c.name == "help" {
			root.SetHelpCommand(cmd) // otherwise cobra adds its own
		}
		root.AddCommand(cmd)
	}
	return root
}

// unknownCommand reports a misspelt subcommand before its flags, which mean nothing without it.
func (a *app) unknownCommand(root *cobra.Command) error {
	arg := a.asked()
	if arg == "" || strings.HasPrefix(arg, "__complete") {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.Name() == arg || c.HasAlias(arg) {
			return nil
		}
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return usage(fmt.Sprintf("there is no subcommand %q%s", arg, didYouMean(arg, names)), "verbatim --help lists them")
}

// asked returns the name of the requested subcommand, or "".
func (a *app) asked() string {
	for i, arg := range a.args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || a.args[i-1] != "--color") {
			return arg
		}
	}
	return ""
}

// didYouMean adds the nearest name to a sentence.
func didYouMean(word string, names []string) string {
	near := dsl.Nearest(word, slices.Values(names))
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = fmt.Sprintf("%q", n)
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// built returns the version and revision of this build.
func built() (name, revision string) {
	name = version
	if info, ok := debug.ReadBuildInfo(); ok {
		name = cmp.Or(name, info.Main.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if name == "" || name == "(devel)" {
		name = "development build"
	}
	return name, revision
}

// licences are the notices that whoever hands the program on has to hand on with it: the texts of
// the licences of all modules in it. A test writes the file and compares it.
//
//go:embed release/licences.txt
var licences string

func versionCommand(a *app) *cobra.Command {
	var notices bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say which build this is, and print the licences of what it is made of",
		Example: "verbatim version\nverbatim version --licences",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if notices {
				a.printHelp(licences)
				return nil
			}
			name, revision := built()
			if a.json {
				a.emit(struct {
					Schema   string `json:"schema"`
					Version  string `json:"version"`
					Revision string `json:"revision,omitempty"`
					Go       string `json:"go"`
				}{"verbatim/version@1", name, revision, goruntime.Version()})
				return nil
			}
			fmt.Fprintf(a.out, "verbatim  %s\n", name)
			if revision != "" {
				fmt.Fprintf(a.out, "revision  %s\n", revision)
			}
			fmt.Fprintf(a.out, "built by  %s\n", goruntime.Version())
			return nil
		},
	}
	cmd.Flags().BoolVar(&notices, "licences", false, "print the licences of everything in the program, as its release carries them")
	return cmd
}
