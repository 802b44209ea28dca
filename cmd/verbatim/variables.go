package main

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

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

// readEnvironment refuses a variable whose name is a misspelt one of ours, and reads those that are
// given as files: VERBATIM_STORE_FILE names a file that holds the value of VERBATIM_STORE, as
// orchestrators hand out secrets. Other names that begin with VERBATIM_ may be named by a
// configuration, and are left alone.
func (a *app) readEnvironment() error {
	known, read := variables(), map[string]string{}
	// A slip is looked for behind the prefix and behind the first letter, which is seldom mistaken.
	byInitial := map[byte][]string{}
	for name := range known {
		of := strings.TrimPrefix(name, "VERBATIM_")
		byInitial[of[0]] = append(byInitial[of[0]], of)
	}
	for _, set := range a.environ {
		name, value, _ := strings.Cut(set, "=")
		if !strings.HasPrefix(name, "VERBATIM_") || known[name] != "" {
			continue
		}
		if of := strings.TrimSuffix(name, "_FILE"); of != name && known[of] != "" {
			text, err := os.ReadFile(value)
			if err != nil {
				return usage(fmt.Sprintf("%s names a file that cannot be read: %s", name, reason(err)), "check the path, and who may read it")
			}
			if a.env(of) != "" {
				return usage(fmt.Sprintf("both %s and %s are set", of, name), "leave one of them out")
			}
			read[of] = strings.TrimRight(string(text), "\r\n")
			continue
		}
		own := strings.TrimPrefix(name, "VERBATIM_")
		if own == "" {
			continue
		}
		if near := dsl.Nearest(own, slices.Values(byInitial[own[0]])); len(near) > 0 {
			return usage(fmt.Sprintf("the environment sets %s, which the program does not read: did you mean VERBATIM_%s?", name, strings.Join(near, " or VERBATIM_")), "verbatim help variables lists all")
		}
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
func (a *app) fromVariables(cmd *cobra.Command) (err error) {
	known := variables()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "VERBATIM_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value := a.env(name); err == nil && !f.Changed && value != "" && known[name] != "" {
			if set := cmd.Flags().Set(f.Name, value); set != nil {
				err = usage(fmt.Sprintf("%s is %q, which --%s does not take", name, value, f.Name), "verbatim help variables; verbatim "+cmd.Name()+" --help")
			}
		}
	})
	return err
}

// printVariables prints the variables in the order of their names.
func (a *app) printVariables() {
	known := variables()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(a.out, "%-29s %s\n", name, known[name])
	}
	fmt.Fprint(a.out, "\nNAME_FILE names a file that holds the value, for each of them; those marked secret are best kept so.\n")
}
