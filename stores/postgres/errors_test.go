package postgres

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores/postgres/pgtest"
)

// What keeps a program from its database is told in an operator's words, each with a step of its own.
func TestWhatKeepsFromADatabase(t *testing.T) {
	t.Parallel()
	says, steps := map[string]bool{}, map[string]bool{}
	told := func(name string, err error, words string) {
		t.Helper()
		var knows interface{ Next() string }
		if err == nil || !strings.Contains(err.Error(), words) || !errors.As(err, &knows) || knows.Next() == "" {
			t.Errorf("%s: %v", name, err)
			return
		}
		if says[err.Error()] || steps[knows.Next()] {
			t.Errorf("%s is told like another: %v; %s", name, err, knows.Next())
		}
		says[err.Error()], steps[knows.Next()] = true, true
	}
	for code, words := range map[string]string{"28P01": "password", "28000": "pg_hba.conf", "3D000": "no database", "53300": "no connection left", "53100": "disk is full", "57P01": "ended this connection", "57P03": "starting or stopping"} {
		told(code, fault(t.Context(), "open", &pgconn.PgError{Code: code}), words)
	}
	told("another name", fault(t.Context(), "open", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "db.bank.example"}), "for another name")

	db := pgtest.Database(t)
	at := func(set func(u *url.URL)) error {
		u, err := url.Parse(db.App)
		if err != nil {
			t.Fatal(err)
		}
		set(u)
		s, err := Open(context.WithoutCancel(t.Context()), u.String())
		if err == nil {
			s.Close()
		}
		return err
	}
	query := func(u *url.URL, name, value string) {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	}
	nameless := at(func(u *url.URL) { u.Host = "nowhere.invalid"; query(u, "host", "nowhere.invalid") })
	told("DNS", nameless, "leads to no address")
	if missing := at(func(u *url.URL) { u.Path = "/nothing" }); missing == nil || !strings.Contains(missing.Error(), "3D000") {
		t.Errorf("a database that is not there: %v", missing)
	}
	told("a port", at(func(u *url.URL) { query(u, "host", "127.0.0.1"); query(u, "port", "1"); u.Host = "" }), "no server listens there")
	told("a file", at(func(u *url.URL) {
		u.Host = ""
		query(u, "host", "127.0.0.1")
		query(u, "sslmode", "verify-full")
		query(u, "sslrootcert", "/nowhere/ca.pem")
	}), "a file that the URL names cannot be read (open /nowhere/ca.pem")
	told("a URL", at(func(u *url.URL) { query(u, "port", "many") }), "the URL cannot be read")

	// Who makes roles, and who reads tables, is told the same.
	without := db.App + "&port=1"
	if !strings.Contains(without, "?") {
		without = db.App + "?port=1"
	}
	for name, try := range map[string]func(url string) error{
		"roles":  func(url string) error { _, err := Roles(t.Context(), url, "some", rand.Reader, false); return err },
		"tables": func(url string) error { _, err := Tables(t.Context(), url, nil); return err },
		"engine": func(url string) error { _, _, err := Engine(t.Context(), url); return err },
	} {
		for at, words := range map[string]string{without: "no server listens there", "postgres://%zz": "the URL cannot be read"} {
			var knows interface{ Next() string }
			if err := try(at); err == nil || !strings.Contains(err.Error(), words) || !errors.As(err, &knows) || knows.Next() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	told("TLS", fault(t.Context(), "open", errors.New("server refused TLS connection")), "has no TLS")
}
