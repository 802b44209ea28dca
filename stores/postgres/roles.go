package postgres

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Role is a role of the server that a database of a store needs.
type Role struct {
	Name string
	For  string
	// URL has the password that the role was given when it was made; "" for one that was there, and for the
	// role of queries, which does not log in.
	URL string
}

// RolesPlan says what Roles did, or would do.
type RolesPlan struct {
	Steps []string
	Roles []Role
}

// setConfig is the function that the role of queries must not call: it would change whose rows a query sees.
const setConfig = "pg_catalog.set_config(text, text, boolean)"

// Roles makes the roles of a store and its database, as a superuser: the owner of the tables, the role that
// runs use, the one that their queries use, and one for backups, which row-level security does not hold. It
// leaves alone what is there. Names begin with prefix. Without apply it changes nothing.
func Roles(ctx context.Context, at, prefix string, random io.Reader, apply bool) (RolesPlan, error) {
	cfg, err := pgx.ParseConfig(at)
	if err != nil {
		return RolesPlan{}, fault(ctx, "open", err)
	}
	r := &roles{prefix: prefix, database: cmp.Or(cfg.Database, cfg.User), random: random, apply: apply}
	there := cfg.Copy()
	c, err := pgx.ConnectConfig(ctx, cfg)
	var no *pgconn.PgError
	if errors.As(err, &no) && no.Code == "3D000" { // there is no such database
		there.Database = "postgres"
		if c, err = pgx.ConnectConfig(ctx, there); err == nil {
			r.missing = true
		}
	}
	if err != nil {
		return RolesPlan{}, fault(ctx, "open", err)
	}
	defer func() { c.Close(context.WithoutCancel(ctx)) }()
	if r.elsewhere, err = r.reached(ctx, c, at); err != nil {
		return RolesPlan{}, fault(ctx, "open", err)
	}
	if err = r.make(ctx, c); err == nil && r.missing {
		err = r.run(ctx, c, "CREATE DATABASE "+quote(r.database)+" OWNER "+quote(r.prefix+"_owner"))
		if err == nil && apply {
			c.Close(ctx)
			c, err = pgx.ConnectConfig(ctx, cfg)
		}
	}
	if err == nil {
		err = r.rights(ctx, c)
	}
	return r.RolesPlan, fault(ctx, "migrate", err)
}

type roles struct {
	RolesPlan
	prefix, database string
	random           io.Reader
	apply, missing   bool
	elsewhere        *url.URL // how the roles reach the database
}

// reached is the URL for other roles. Over a socket PostgreSQL usually takes nobody but the user of the machine
// who is called like the role, so they take the network where the server listens there.
func (r *roles) reached(ctx context.Context, c *pgx.Conn, at string) (*url.URL, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Del("user")
	q.Del("password")
	var listens string
	if err := c.QueryRow(ctx, "SHOW listen_addresses").Scan(&listens); err != nil {
		return nil, err
	}
	if host := cmp.Or(q.Get("host"), u.Host); (host == "" || strings.HasPrefix(host, "/")) && listens != "" {
		q.Del("host")
		q.Del("port")
		u.Host = "localhost"
		if port := c.Config().Port; port != 5432 {
			u.Host += ":" + strconv.Itoa(int(port))
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u, nil
}

// run runs a statement, unless it is only planned.
func (r *roles) run(ctx context.Context, c *pgx.Conn, step string) error {
	r.Steps = append(r.Steps, step)
	if !r.apply {
		return nil
	}
	_, err := c.Exec(ctx, step)
	return err
}

// make plans and makes the roles that are missing.
func (r *roles) make(ctx context.Context, c *pgx.Conn) error {
	for _, role := range []struct{ name, is, why string }{
		{"_owner", "LOGIN", "owns the tables: for verbatim migrate"},
		{"_app", "LOGIN", "is held by row-level security: for serve, work and run"},
		{"_app" + queriesAs, "", "runs the queries of palettes"},
		{"_backup", "LOGIN BYPASSRLS", "reads everything and writes nothing: for verbatim backup"},
	} {
		name := r.prefix + role.name
		var there, free bool
		if err := c.QueryRow(ctx, "SELECT count(*) > 0, COALESCE(bool_or(rolsuper OR rolbypassrls), false) FROM pg_catalog.pg_roles WHERE rolname = $1::text", name).Scan(&there, &free); err != nil {
			return err
		}
		made := Role{Name: name, For: role.why}
		if !there {
			if err := r.run(ctx, c, strings.TrimSpace("CREATE ROLE "+quote(name)+" "+role.is)); err != nil {
				return err
			}
			if role.is != "" && r.apply {
				password, err := r.password(ctx, c, name)
				if err != nil {
					return err
				}
				made.URL = r.url(name, password)
			}
		} else if role.is == "LOGIN BYPASSRLS" && !free {
			if err := r.run(ctx, c, "ALTER ROLE "+quote(name)+" BYPASSRLS"); err != nil {
				return err
			}
		}
		r.Roles = append(r.Roles, made)
	}
	for _, m := range [][2]string{{r.prefix + "_app" + queriesAs, r.prefix + "_app"}, {"pg_read_all_data", r.prefix + "_backup"}} {
		var member bool
		if err := c.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON g.oid = m.roleid JOIN pg_catalog.pg_roles r ON r.oid = m.member WHERE g.rolname = $1::text AND r.rolname = $2::text", m[0], m[1]).Scan(&member); err != nil {
			return err
		}
		if !member {
			if err := r.run(ctx, c, "GRANT "+quote(m[0])+" TO "+quote(m[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// password gives a role a random password. The server is told its SCRAM verifier, so that neither its log nor
// its activity holds the password.
func (r *roles) password(ctx context.Context, c *pgx.Conn, name string) (string, error) {
	secret, salt := make([]byte, 18), make([]byte, 16)
	for _, b := range [][]byte{secret, salt} {
		if _, err := io.ReadFull(r.random, b); err != nil {
			return "", err
		}
	}
	password := base64.RawURLEncoding.EncodeToString(secret)
	verifier, err := scram(password, salt)
	if err != nil {
		return "", err
	}
	_, err = c.Exec(ctx, "ALTER ROLE "+quote(name)+" PASSWORD '"+verifier+"'")
	return password, err
}

// scram is what PostgreSQL keeps of an ASCII password, by RFC 5803.
func scram(password string, salt []byte) (string, error) {
	const rounds = 4096
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return "", err
	}
	keyed := func(of string) []byte {
		mac := hmac.New(sha256.New, salted)
		mac.Write([]byte(of))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(keyed("Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, text(salt), text(stored[:]), text(keyed("Server Key"))), nil
}

// url is how a role reaches the database.
func (r *roles) url(role, password string) string {
	u := *r.elsewhere
	if u.Host == "" { // a user would be followed by an @
		q := u.Query()
		q.Set("user", role)
		q.Set("password", password)
		u.RawQuery = q.Encode()
	} else {
		u.User = url.UserPassword(role, password)
	}
	u.Path = "/" + r.database
	return u.String()
}

// rights plans and gives the rights in the database.
func (r *roles) rights(ctx context.Context, c *pgx.Conn) error {
	owner := r.prefix + "_owner"
	all := true // whether everybody may call setConfig
	if !r.missing || r.apply {
		if err := c.QueryRow(ctx, "SELECT proacl IS NULL OR EXISTS (SELECT 1 FROM pg_catalog.aclexplode(proacl) WHERE grantee = 0) FROM pg_catalog.pg_proc WHERE oid = '"+setConfig+"'::pg_catalog.regprocedure").Scan(&all); err != nil {
			return err
		}
	}
	if all {
		if err := r.run(ctx, c, "REVOKE EXECUTE ON FUNCTION "+setConfig+" FROM PUBLIC"); err != nil {
			return err
		}
	}
	for _, name := range []string{owner, r.prefix + "_app", r.prefix + "_backup"} {
		var has bool
		if err := c.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_proc, pg_catalog.aclexplode(proacl) x JOIN pg_catalog.pg_roles r ON r.oid = x.grantee WHERE pg_proc.oid = '"+setConfig+"'::pg_catalog.regprocedure AND r.rolname = $1::text)", name).Scan(&has); err != nil {
			return err
		}
		if !has {
			if err := r.run(ctx, c, "GRANT EXECUTE ON FUNCTION "+setConfig+" TO "+quote(name)); err != nil {
				return err
			}
		}
	}
	if r.missing {
		return nil // the owner owns the database
	}
	var database, schema bool
	if err := c.QueryRow(ctx, `SELECT COALESCE(bool_and(pg_catalog.has_database_privilege(oid, pg_catalog.current_database(), 'CREATE')), false),
	COALESCE(bool_and(pg_catalog.has_schema_privilege(oid, 'public', 'CREATE')), false) FROM pg_catalog.pg_roles WHERE rolname = $1::text`, owner).Scan(&database, &schema); err != nil {
		return err
	}
	if !database {
		if err := r.run(ctx, c, "GRANT CREATE ON DATABASE "+quote(r.database)+" TO "+quote(owner)); err != nil {
			return err
		}
	}
	if !schema {
		return r.run(ctx, c, "GRANT CREATE ON SCHEMA public TO "+quote(owner))
	}
	return nil
}
