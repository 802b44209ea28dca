package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/domains/rights"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/protocols/mcp"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
	"verbatim/verbs/propose"
)

func newCommand(a *app) *cobra.Command {
	var from, palettes, servers string
	var of choice
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Write a first palette, from what exists or an empty one",
		Example: `verbatim new --palettes fresh notes
verbatim new --palettes over --from sqlite:verbatim.db`,
		Long: `--from reads what is there, and changes nothing of it. Of a database: entities with their
keys, references, codes, a read of each table, and a verb that adds a row. Of tools, in a
file as MCP lists them or mcp: and a server's name, address or command: a verb for each.
Of an OpenAPI file: a verb for each operation, which sends a request to the API.
What a person has to decide is marked DECIDE; what cannot be said is told where it would
stand. --schemas, --tables and --exclude choose among many tables, by their names or patterns
such as 'audit_*'. NAME is the domain, the source's own name unless it is given.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			dir, err := onePlace(a.palettesDir(palettes))
			if err != nil {
				return err
			}
			return a.begin(cmd.Context(), name, from, servers, dir, &of)
		},
	}
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().StringVar(&from, "from", "", "`SOURCE`: sqlite:PATH, postgres://…, FILE.json, FILE.yaml or mcp:SERVER")
	cmd.Flags().StringSliceVar(&of.schemas, "schemas", nil, "only tables of these `SCHEMAS`")
	cmd.Flags().StringSliceVar(&of.tables, "tables", nil, "only these `TABLES`")
	cmd.Flags().StringSliceVar(&of.exclude, "exclude", nil, "all but these `TABLES`")
	a.serversFlag(cmd, &servers)
	return cmd
}

// A choice is which tables of a database a first palette is over.
type choice struct {
	schemas, tables, exclude []string
	met                      map[string]bool // patterns that some table fits
}

// keep reports whether a table is chosen, by its name behind that of its schema, if it has one.
func (c *choice) keep(table string) bool {
	if c.met == nil {
		c.met = map[string]bool{}
	}
	schema, name, has := strings.Cut(table, ".")
	if !has {
		schema, name = "", table
	}
	fits := func(kind string, patterns []string, names ...string) (some bool) {
		for _, p := range patterns {
			for _, n := range names {
				if ok, err := path.Match(strings.ToLower(p), strings.ToLower(n)); err == nil && ok {
					some, c.met[kind+p] = true, true
				}
			}
		}
		return some
	}
	of, only, not := fits("--schemas ", c.schemas, schema), fits("--tables ", c.tables, name, table), fits("--exclude ", c.exclude, name, table)
	return (of || len(c.schemas) == 0) && (only || len(c.tables) == 0) && !not
}

// unmet returns a flag that no table fits, "" if there is none.
func (c *choice) unmet() string {
	for kind, patterns := range map[string][]string{"--schemas ": c.schemas, "--tables ": c.tables, "--exclude ": c.exclude} {
		for _, p := range patterns {
			if !c.met[kind+p] {
				return kind + p
			}
		}
	}
	return ""
}

// notOurs leaves out the tables of the system palette.
func notOurs(tables []stores.Table) ([]stores.Table, error) {
	reg, ds := load.Sources(rights.Source())
	if reg == nil {
		return nil, broken("the palette of the program itself cannot be read", errors.New(ds[0].Summary), "it is a fault of the program")
	}
	flat := func(name string) string { return strings.ReplaceAll(name, ".", "_") }
	return slices.DeleteFunc(tables, func(t stores.Table) bool {
		return slices.ContainsFunc(reg.Entities(), func(e *verbs.Entity) bool { return flat(e.Store.Table) == flat(t.Name) })
	}), nil
}

var domainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,49}$`) })

// isDomain reports whether a domain may have this name: names with the prefix verbatim are
// reserved.
func isDomain(name string) bool {
	return domainName().MatchString(name) && !strings.HasPrefix(name, "verbatim") && name != "system"
}

// A firstPalette is a first palette under construction.
type firstPalette struct {
	files  []propose.Proposal
	source string // short description of where it comes from
	what   string // "table", "tool" or "operation"
	count  int
	verbs  int    // number of verbs for tools and operations
	next   string // the command to type next
}

func (a *app) begin(ctx context.Context, name, from, servers, dir string, of *choice) error {
	var b firstPalette
	var err error
	file := strings.ToLower(filepath.Ext(from))
	switch {
	case from == "":
		if !isDomain(name) {
			return badDomain(name)
		}
		b = firstPalette{files: propose.FromTables(name, "", nil), what: "table", next: thenMigrate(dir, "")}
	case strings.HasPrefix(from, "mcp:"):
		b, err = a.fromServer(ctx, name, strings.TrimPrefix(from, "mcp:"), servers)
	case !strings.Contains(from, ":") && (file == ".json" || file == ".yaml" || file == ".yml"):
		b, err = fromFile(name, from)
	default:
		b, err = a.fromTables(ctx, name, from, dir, of)
	}
	if err != nil {
		return err
	}
	for _, f := range b.files {
		if _, err := os.Lstat(filepath.Join(dir, f.Name)); err == nil {
			return &stop{exitUsage, "exists", fmt.Sprintf("the file %s is there already", quoted(filepath.Join(dir, f.Name))), "a palette is never overwritten: give another NAME, or another folder with --palettes"}
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &stop{exitUsage, "unwritable", fmt.Sprintf("the folder %s cannot be made: %s", quoted(dir), reason(err)), "name another with --palettes DIR"}
	}
	j := struct {
		Schema string   `json:"schema"`
		Files  []string `json:"files"`
		Tables int      `json:"tables"`
		Decide int      `json:"decide"`
		Verbs  int      `json:"verbs"`
		Unsaid int      `json:"unsaid"`
		Left   []left   `json:"left"`
	}{Schema: "verbatim/new@1"}
	for _, f := range b.files {
		name := filepath.Join(dir, f.Name)
		if err := os.WriteFile(name, f.Text, 0o666); err != nil {
			return &stop{exitUsage, "unwritable", fmt.Sprintf("the file %s cannot be written: %s", quoted(name), reason(err)), "name another folder with --palettes DIR"}
		}
		j.Files, j.Decide, j.Unsaid = append(j.Files, name), j.Decide+f.Decide, j.Unsaid+f.Unsaid
		for what, n := range f.Left {
			j.Left = append(j.Left, left{what, n})
		}
	}
	// The first line of each names the schema, by which editors complete and check it. It is this
	// program's, and written anew each time.
	if err := os.WriteFile(filepath.Join(dir, "palette.schema.json"), load.PaletteSchema(), 0o666); err != nil {
		return &stop{exitUsage, "unwritable", fmt.Sprintf("the file %s cannot be written: %s", quoted(filepath.Join(dir, "palette.schema.json")), reason(err)), "the palettes are written; an editor does without it"}
	}
	slices.SortFunc(j.Left, func(a, b left) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.What, b.What)) })
	j.Left = wire.Some(j.Left)
	if b.what == "table" {
		j.Tables = b.count
	} else {
		j.Verbs = b.verbs
	}
	if a.json {
		j.Files = wire.Some(j.Files)
		a.emit(j)
		return nil
	}
	what := "a first palette"
	if from != "" {
		what = receipt.Counted(b.count, b.what) + " of " + receipt.Safe(b.source)
	}
	if b.verbs > 0 {
		what = receipt.Counted(b.verbs, "verb") + " for " + what
	}
	files := j.Files[0]
	if more := len(j.Files) - 1; more > 0 {
		files += " and " + receipt.Counted(more, "more file")
	}
	fmt.Fprintf(a.out, "ok   %s: %s\n", files, what)
	fmt.Fprintf(a.out, "     %s for you to decide: they say DECIDE\n", receipt.Counted(j.Decide, "line"))
	if j.Unsaid > 0 {
		fmt.Fprintf(a.out, "     %s could not be said: they say \"not said\"\n", receipt.Counted(j.Unsaid, "thing"))
	}
	for _, l := range j.Left {
		fmt.Fprintf(a.out, "     not said: %s × %s\n", receipt.Thousands(l.Count), receipt.Safe(l.What))
	}
	fmt.Fprintf(a.out, "next: %s\n", b.next)
	return nil
}

// A left is how many things of a kind a first palette does not say.
type left struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

func badDomain(name string) error {
	return usage(fmt.Sprintf("%q cannot be the name of a domain", name), "give a name in small letters, such as verbatim new notes")
}

// named returns the domain's name: the given one, or one made from the source's name.
func named(given, source string) (string, error) {
	if given == "" {
		base := filepath.Base(strings.TrimRight(source, "/"))
		base = strings.TrimSuffix(base, filepath.Ext(base))
		given = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(base), "-"), "-")
		if !isDomain(given) {
			given = "shop"
		}
	}
	if !isDomain(given) {
		return "", badDomain(given)
	}
	return given, nil
}

// fromTables proposes a palette from a database's tables.
func (a *app) fromTables(ctx context.Context, name, from, dir string, of *choice) (b firstPalette, err error) {
	at, why := addressOf(from)
	if why != "" {
		return b, usage("--from "+why, "give a path, sqlite:PATH, postgres://ROLE@HOST/DATABASE, mcp:SERVER, or a file of tools or of OpenAPI")
	}
	var tables []stores.Table
	if at.url != "" {
		tables, err = postgres.Tables(ctx, at.url, of.keep)
	} else {
		tables, err = sqlite.Tables(ctx, at.file, of.keep)
	}
	if errors.Is(err, os.ErrNotExist) {
		return b, &stop{exitUsage, "no-store", fmt.Sprintf("there is no database %s", quoted(at.String())), "name a file that is there, or postgres://ROLE@HOST/DATABASE"}
	}
	if err != nil {
		return b, broken(fmt.Sprintf("the database %s cannot be read", at), err, "check the address, and that it is a database")
	}
	if tables, err = notOurs(tables); err != nil {
		return b, err
	}
	if flag := of.unmet(); flag != "" {
		return b, usage(fmt.Sprintf("no table of the database %s fits %s", at, quoted(flag)), "name tables as the database does, or with * for any letters: --tables 'order*'")
	}
	if len(tables) == 0 {
		return b, &stop{exitInput, "no-tables", fmt.Sprintf("the database %s has no tables that can be seen", at), "name another, or begin with verbatim new NAME"}
	}
	if !slices.ContainsFunc(tables, func(t stores.Table) bool { return t.Fault == "" }) {
		return b, &stop{exitInput, "no-tables", fmt.Sprintf("none of the %s of the database %s can be read: %s", receipt.Counted(len(tables), "table"), at, receipt.Safe(tables[0].Fault)), "connect as a role that may read them"}
	}
	if name, err = named(name, at.String()); err != nil {
		return b, err
	}
	b = firstPalette{source: filepath.Base(at.String()), what: "table", count: len(tables)}
	b.files = propose.FromTables(name, b.source, tables)
	b.next = thenMigrate(dir, " --store "+shell(from))
	if at.url != "" {
		b.next = thenMigrate(dir, " --store OWNERURL --grant-to ROLE", " --store ROLEURL")
	}
	return b, nil
}

// thenMigrate returns the next commands after a palette for tables: migrate runs once with each
// of these flags. The last, on PostgreSQL as the role that runs use, makes the administrators: one
// alone could make no other.
func thenMigrate(dir string, flags ...string) string {
	lint, palettes := "", ""
	if dir != "verbs" {
		lint, palettes = " "+shell(dir), " --palettes "+shell(dir)
	}
	next := "verbatim lint" + lint
	for _, f := range flags {
		next += ", then verbatim migrate" + palettes + f
	}
	return next + " --administrator NAME --administrator OTHER"
}

// fromFile proposes a palette from a description of tools or of an API.
func fromFile(name, file string) (b firstPalette, err error) {
	if name, err = named(name, file); err != nil {
		return b, err
	}
	at := file
	if to, err := filepath.EvalSymlinks(file); err == nil {
		at = to // the file that was named may be a link; those that it refers to are below its folder
	}
	folder, err := os.OpenRoot(filepath.Dir(at))
	var text []byte
	if err == nil {
		defer folder.Close()
		text, _, err = propose.Gather(folder.FS(), filepath.Base(at))
	}
	if err != nil {
		return b, usage(fmt.Sprintf("the file %s cannot be read: %s", quoted(file), reason(err)), "name a file with tools as MCP lists them, or an OpenAPI description")
	}
	return described(name, name, filepath.Base(file), text)
}

func described(name, server, source string, text []byte) (b firstPalette, err error) {
	found, err := propose.FromDescription(name, server, text)
	if err != nil {
		return b, &stop{exitInput, "no-tools", fmt.Sprintf("%s is no description of tools: %s", quoted(source), err), `a list of tools is {"tools": [{"name": …, "inputSchema": …}]}; an API is described by OpenAPI 3`}
	}
	entry := "api: " + source
	if !strings.HasPrefix(found.At, "https://") {
		entry += `, url: "https://…"`
	}
	b = firstPalette{files: found.Files, source: source, what: found.What, count: found.Count, verbs: found.Verbs,
		next: fmt.Sprintf("say in servers.yaml where the API is, as servers: {%s: {%s}}, then verbatim lint --servers servers.yaml --accept", server, entry)}
	if found.What == "tool" {
		b.next = fmt.Sprintf("say in servers.yaml what the server %s is, then verbatim lint --servers servers.yaml --accept", server)
	}
	return b, nil
}

// fromServer proposes a palette from the tools of an MCP server: one in the configuration file, a
// URL, or a command with arguments.
func (a *app) fromServer(ctx context.Context, name, server, file string) (b firstPalette, err error) {
	all, called := (*mcp.Servers)(nil), server
	if file = a.serversFile(file); file != "" {
		if all, _, err = a.servers(file); err != nil {
			return b, err
		}
	}
	known := all != nil && all.Has(server)
	if !known {
		one := mcp.Server{Timeout: time.Minute, MaxAnswer: 64 << 20}
		if one.Command = strings.Fields(server); len(one.Command) == 0 {
			return b, usage("--from mcp: names no server", "mcp:NAME as a servers file has it, mcp:https://… or mcp:COMMAND")
		}
		called = strings.TrimSuffix(filepath.Base(one.Command[0]), ".exe")
		if at, err := url.Parse(server); err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != "" {
			// A URL typed by the operator may be a local address.
			one.URL, one.Local, one.Command, called = server, true, nil, at.Hostname()
		}
		all = mcp.New(mcp.Config{Servers: map[string]mcp.Server{called: one}}, mcp.Accepted{}, mcp.Options{Env: a.env, Version: version})
	}
	said, err := all.All(ctx, called)
	if err != nil {
		return b, broken(fmt.Sprintf("the server %s cannot be asked for its tools", quoted(called)), err, "see that it runs: mcp:NAME as a servers file has it, mcp:https://… or mcp:COMMAND")
	}
	text, err := mcp.List(said)
	if err != nil {
		return b, err
	}
	short, err := named("", strings.ReplaceAll(called, ".", "-"))
	if err != nil {
		return b, err
	}
	if name, err = named(name, short); err != nil {
		return b, err
	}
	if !known {
		return described(name, short, called, text)
	}
	if b, err = described(name, called, called, text); err == nil {
		b.next = "verbatim lint --servers " + shell(file) + " --accept"
	}
	return b, err
}
