package main

import (
	"context"
	"fmt"
	"strings"

	"verbatim/runtime/frontends/wire"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
)

// isRolePrefix reports whether names of roles may begin with a text: they stand in URLs and scripts.
func isRolePrefix(text string) bool {
	const longest = 41
	return text != "" && len(text) <= longest && text[0] >= 'a' && text[0] <= 'z' && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// makeRoles makes the roles of a database, and the database if there is none, as a superuser.
func (a *app) makeRoles(ctx context.Context, store, prefix string, planOnly bool) error {
	if !isRolePrefix(prefix) {
		return usage(fmt.Sprintf("--roles is what their names begin with, in small letters, not %q", prefix), "verbatim migrate --roles verbatim")
	}
	at, err := a.storeAddress(store)
	if err != nil {
		return err
	}
	if at.url == "" {
		return usage("a file has no roles", "--roles is for postgres://SUPERUSER@HOST/DATABASE")
	}
	plan, err := postgres.Roles(ctx, at.url, prefix, a.random, !planOnly)
	if err != nil {
		return broken(fmt.Sprintf("the roles of %s cannot be made", at), err, "connect as a superuser; verbatim migrate --roles "+prefix+" --plan shows the statements")
	}
	if a.json {
		type roleJSON struct {
			Name string `json:"name"`
			For  string `json:"for"`
			URL  string `json:"url,omitempty"` // with its password, where it was made
		}
		out := struct {
			Schema  string     `json:"schema"`
			Store   string     `json:"store"`
			Applied bool       `json:"applied"`
			Steps   []string   `json:"steps"`
			Roles   []roleJSON `json:"roles"`
		}{Schema: "verbatim/migrate-roles@1", Store: at.String(), Applied: !planOnly, Steps: wire.Some(plan.Steps)}
		for _, r := range plan.Roles {
			out.Roles = append(out.Roles, roleJSON(r))
		}
		a.emit(out)
		return nil
	}
	if planOnly {
		for _, s := range plan.Steps {
			fmt.Fprintln(a.out, s+";")
		}
		fmt.Fprintf(a.err, "%s would be run; nothing was changed\n", receipt.Counted(len(plan.Steps), "statement"))
		return nil
	}
	drawn := false
	for _, r := range plan.Roles {
		fmt.Fprintf(a.out, "%s  %s\n", r.Name, r.For)
		if r.URL != "" {
			fmt.Fprintf(a.out, "  %s\n", r.URL)
			drawn = true
		}
	}
	fmt.Fprintf(a.out, "ok   %s: %s\n", at, receipt.Counted(len(plan.Roles), "role"))
	if drawn {
		fmt.Fprintln(a.err, "note: the passwords in these URLs are shown this once, and kept nowhere")
	}
	return nil
}

// toldUnlocked says how what is missing of a store's locks is put back.
func toldUnlocked(u postgres.Unlocked) (next string) {
	if u.BySuperuser {
		return "verbatim migrate --roles NAME takes it away, as a superuser"
	}
	return "verbatim migrate puts it back, as the owner of the tables"
}
