package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"verbatim/dsl"
)

// variablesText lists the variables of the environment that the program reads: a name and, behind a
// tab, what it is for. "secret:" begins those whose value is better kept in a file.
//
//go:embed variables.txt
var variablesText string

// variables are the purposes of the variables by their names.
func variables() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(variablesText) {
		name, purpose, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		all[name] = purpose
	}
	return all
}

// readEnvironment refuses a variable that is a misspelt one of ours, and reads those that are given as files:
// VERBATIM_STORE_FILE names a file that holds the value of VERBATIM_STORE, as orchestrators hand out secrets.
// What an operator runs refuses every other that begins with VERBATIM_, unless a file of the configuration
// names it.
func (a *app) readEnvironment() error {
	known, read := variables(), map[string]string{}
	var wrong []string
	for _, set := range a.environ {
		name, value, _ := strings.Cut(set, "=")
		if !strings.HasPrefix(name, "VERBATIM_") || name == "VERBATIM_" || known[name] != "" || linked(name, value) {
			continue
		}
		of := strings.TrimSuffix(name, "_FILE")
		if of == name || known[of] == "" {
			if why := a.meaningless(name, known); why != "" {
				wrong = append(wrong, why)
			}
			continue
		}
		text, err := os.ReadFile(value)
		switch {
		case value == "": // as if it were not set
		case err != nil:
			return usage(fmt.Sprintf("%s names a file that cannot be read: %s: %s", name, value, reason(err)), "check the path, and who may read it: verbatim help rotate-and-reload")
		case a.env(of) != "":
			return usage(fmt.Sprintf("both %s and %s are set", of, name), "leave one of them out; a unit may set the other: systemctl cat verbatim")
		default:
			read[of] = strings.TrimRight(string(text), "\r\n")
		}
	}
	if len(wrong) > 0 {
		return usage(strings.Join(wrong, "\n"), "verbatim help variables lists all")
	}
	if env := a.env; len(read) > 0 {
		a.env = func(name string) string {
			if value, ok := read[name]; ok {
				return value
			}
			return env(name)
		}
	}
	return nil
}

// meaningless returns what is wrong with a variable that is none of ours, "" for nothing.
func (a *app) meaningless(name string, known map[string]string) string {
	// A slip is looked for behind the prefix and behind the first letter, which is seldom mistaken.
	own := strings.TrimPrefix(name, "VERBATIM_")
	var like []string
	for of := range known {
		if of = strings.TrimPrefix(of, "VERBATIM_"); of[0] == own[0] {
			like = append(like, of, of+"_FILE")
		}
	}
	slices.Sort(like)
	if near := dsl.Nearest(own, slices.Values(like)); len(near) > 0 {
		return fmt.Sprintf("the environment sets %s, which the program does not read: did you mean VERBATIM_%s?", name, strings.Join(near, " or VERBATIM_"))
	}
	if !slices.Contains([]string{"serve", "doctor", "work"}, a.asked()) || a.configures(strings.TrimSuffix(name, "_FILE")) {
		return ""
	}
	return fmt.Sprintf("the environment sets %s, which the program does not read, and no file of its configuration names", name)
}

// configures reports whether a file of the configuration names a variable, as "secret-env" does.
func (a *app) configures(name string) bool {
	for _, of := range [...]string{"VERBATIM_NOTIFY", "VERBATIM_CHANNELS", "VERBATIM_SERVERS", "VERBATIM_PLANS"} {
		if text, err := os.ReadFile(a.env(of)); err == nil && bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}

// linkOf matches the names of variables with which Kubernetes and Docker tell of a service.
var linkOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)`)
})

// linked reports whether a variable tells of a service that is called verbatim, and means nothing to us.
func linked(name, value string) bool {
	return linkOf().MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
}

// anew returns the value of a variable as it is by now, where a file holds it.
func (a *app) anew(name string) string {
	if text, err := os.ReadFile(a.env(name + "_FILE")); err == nil {
		return strings.TrimRight(string(text), "\r\n")
	}
	return a.env(name)
}

// secret returns the value of a variable that a file of the configuration names. NAME_FILE may name a
// file that holds it, for these too.
func (a *app) secret(name string) string {
	if value := a.env(name); value != "" {
		return value
	}
	return a.anew(name)
}

// fromVariables gives flags that were not given the values of their variables: VERBATIM_TLS_CERT for
// --tls-cert. A flag whose variable is not listed has none.
func (a *app) fromVariables(cmd *cobra.Command) error {
	if wrong := a.flagsFromVariables(cmd); len(wrong) > 0 {
		return wrong[0]
	}
	return nil
}

// flagsFromVariables does so, and returns each value that a flag does not take.
func (a *app) flagsFromVariables(cmd *cobra.Command) (wrong []error) {
	known := variables()
	a.given = map[string]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "VERBATIM_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := a.env(name)
		if f.Changed || value == "" || known[name] == "" {
			return
		}
		a.given[f.Name] = name
		if cmd.Flags().Set(f.Name, value) != nil {
			wrong = append(wrong, usage(fmt.Sprintf("%s is %q, which --%s does not take", name, value, f.Name), "verbatim help variables; verbatim "+cmd.Name()+" --help"))
		}
	})
	return wrong
}

// printVariables prints the variables in the order of their names.
func (a *app) printVariables() {
	known := variables()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(a.out, "%-29s %s\n", name, known[name])
	}
	fmt.Fprint(a.out, "\nNAME_FILE names a file that holds the value, for each of them; those marked secret are best kept so.\n")
}
