package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// A failure is what operators may know of a PostgreSQL error: what was being done, and
// PostgreSQL's own code for the error, with the names of the table, column or constraint. It
// holds no statement and no value, either of which a message of PostgreSQL's may quote.
type failure struct {
	doing string
	code  string // SQLSTATE, "" when the connection failed
	about string
	cause error // why a connection failed; its text names an address, no data
}

func (f *failure) Error() string {
	if f.code == "" && f.cause != nil {
		// An address that was tried with TLS and without is told once.
		var lines []string
		for line := range strings.SplitSeq(f.cause.Error(), "\n") {
			if !slices.ContainsFunc(lines, func(before string) bool { return strings.HasSuffix(before, line) }) {
				lines = append(lines, line)
			}
		}
		text := strings.Join(lines, "; ")
		if says, _ := unreached(f.cause); says == text {
			return fmt.Sprintf("postgres: %s: %s", f.doing, says)
		} else if says != "" {
			return fmt.Sprintf("postgres: %s: %s (%s)", f.doing, says, text)
		}
		return fmt.Sprintf("postgres: %s: %s", f.doing, text)
	}
	text := "SQLSTATE " + f.code
	if f.about != "" {
		text += " on " + f.about
	}
	if says := sayings[f.code].says; says != "" {
		text = says + " (" + text + ")"
	}
	return "postgres: " + f.doing + ": " + text
}

// sayings are what operators are told about codes that they meet while they set a server up (appendix A of
// PostgreSQL's documentation), and what they do. A code without a step has another in each command.
var sayings = map[string]struct{ says, next string }{
	"28000": {"the server does not let this role in from here: there is no such role, it may not log in, or pg_hba.conf has no line for it", "the server's log says which: make the role, ALTER ROLE it to LOGIN, or add a line for role, database and machine to pg_hba.conf and reload"},
	"28P01": {"the password of the role is wrong or missing; PGPASSWORD or a file .pgpass gives it", "check the password in the URL, in PGPASSWORD or in .pgpass; ALTER ROLE sets another"},
	"3D000": {"the server has no database of this name", "check the end of the URL, or make the database: verbatim migrate --roles"},
	"42501": {"the role may not do this; the owner of the tables may, and gives a role what runs need by migrate --grant-to", ""},
	"53100": {"the server's disk is full", "free space on the server's disk, or give it more"},
	"53300": {"", "end connections that nobody needs, or raise max_connections or the limit of the role or the database"},
	"57P01": {"the server ended this connection", "connections are made again by themselves; its log says who ended them, if it is not stopping"},
	"57P02": {"the server ended all connections after a crash of its own", "connections are made again by themselves; the server's log says what crashed"},
	"08006": {"the connection to the server broke", "connections are made again by themselves; look at the network between, and at the server's log"},
	"57P03": {"the server is starting or stopping", "wait until the server has started, and see its log if it does not"},
}

// Is implements errors.Is for a right that the role lacks.
func (f *failure) Is(target error) bool { return target == stores.ErrDenied && f.code == "42501" }

// unbegun reports whether a connection had ended before its transaction began.
func unbegun(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.doing == "begin" && (slices.Contains([]string{"57P01", "57P02", "08003", "08006"}, f.code) || f.code == "" && pgconn.SafeToRetry(f.cause))
}

// Next says what an operator can do, "" where no step is known.
func (f *failure) Next() string {
	if f.code != "" {
		return sayings[f.code].next
	}
	_, next := unreached(f.cause)
	return next
}

// unreached says in words why a connection did not come about, and what helps; "" where the cause says
// it best.
func unreached(cause error) (says, next string) {
	var host x509.HostnameError
	var wrong *tls.CertificateVerificationError
	var file *fs.PathError
	switch {
	case errors.Is(cause, errURL):
		return "the URL cannot be read", "write it like postgres://ROLE@HOST/DATABASE"
	case errors.As(cause, &file):
		return "a file that the URL names cannot be read", "check its path, and who may read it"
	case errors.Is(cause, syscall.ECONNREFUSED) || errors.Is(cause, syscall.ENOENT):
		return "no server listens there", "start the server, or check the host and the port in the URL"
	case cause != nil && (strings.Contains(cause.Error(), "no such host") || strings.Contains(cause.Error(), "hostname resolving error")):
		return "the name of the server leads to no address", "check the host in the URL, and that this machine resolves it: getent hosts NAME"
	case errors.As(cause, &host):
		return "the certificate of the server is for another name", "write the host in the URL as the certificate has it"
	case errors.As(cause, &wrong):
		return "the certificate of the server is not trusted", "name the certificate of its authority in the URL: sslrootcert=FILE"
	case cause != nil && strings.Contains(cause.Error(), "server refused TLS connection"):
		return "the server has no TLS, which the URL asks for", "turn on ssl at the server, or write sslmode=disable where nobody can listen"
	}
	return "", ""
}

// fault turns an error of the driver into one of ours. It returns our own errors unchanged, and
// the context's error if the context has ended.
func fault(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	var mine *failure
	var sql *stores.SQLError
	if errors.As(err, &mine) || errors.As(err, &sql) || ours(err) {
		return err
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &failure{doing: doing, cause: plainCause(err)}
	}
	f := &failure{doing: doing, code: e.Code, about: about(e)}
	switch e.Routine {
	case "exec_stmt_raise":
		// A function or trigger may give any code. Some say what they say of the server: that it should
		// be tried again, or that something is full.
		if !slices.Contains([]string{"08", "40", "53", "54", "55", "57", "58"}, e.Code[:2]) {
			return refusedBy(stores.ErrInvalid, stores.Raised, e)
		}
	case "RewriteQuery": // a rule without RETURNING
		return refusedBy(stores.ErrInvalid, stores.RuledOut, e)
	}
	if e.Code[:2] == "42" && strings.Contains(e.Where, "function ") {
		return refusedBy(stores.ErrInvalid, stores.Failed, e)
	}
	switch e.Code {
	case "57014": // cancelled, by the context, by our limit of a query, or by a timeout of the server
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case doing == "query":
			return sqlcore.Because(stores.ErrLimit, f)
		}
		return sqlcore.Because(stores.ErrSlow, f)
	case "25006":
		if doing != "query" { // a query only reads
			return sqlcore.Because(stores.ErrStandby, f)
		}
	case "53300":
		return sqlcore.Because(stores.ErrCrowded, f)
	case "40001", "40P01", "55P03", "0A000": // the last: a prepared plan that a migration outdated
		if e.Code == "0A000" && doing == "begin" { // a standby begins no transaction that may write
			return sqlcore.Because(stores.ErrStandby, f)
		}
		return sqlcore.Because(stores.ErrConflict, f)
	case "23503":
		// The row referred to got another owner, or was deleted, since the statement read its
		// owner. (Deleting a row that is referred to is another matter.)
		if strings.HasPrefix(e.ConstraintName, "verbatim_root_") && doing != "delete" {
			return sqlcore.Because(stores.ErrConflict, f)
		}
		if doing == "delete" || !strings.HasPrefix(e.Message, "insert or update") && strings.Contains(e.Message, e.TableName+`" violates`) {
			return refusedBy(stores.ErrInvalid, stores.ReferredTo, e)
		}
		return refusedBy(stores.ErrInvalid, stores.Referring, e)
	case "23505", "23P01":
		return refusedBy(stores.ErrDuplicate, stores.Taken, e)
	case "23514":
		return refusedBy(stores.ErrInvalid, stores.Checked, e)
	case "23502":
		return refusedBy(stores.ErrInvalid, stores.Missing, e)
	case "22001", "22003", "22P02", "22007", "22008", "22023":
		return refusedBy(stores.ErrInvalid, stores.Unfit, e)
	case "27000":
		return refusedBy(stores.ErrInvalid, stores.RuledOut, e)
	case "42P01", "3F000", "42703", "42704", "42804", "42883", "42846": // the last: a column has another type
		return sqlcore.Because(stores.ErrSchema, f)
	case "42501":
		// A policy refused a row, which no missing privilege looks like.
		if e.Routine == "ExecWithCheckOptions" {
			return stores.ErrNotFound
		}
	case "53100":
		return sqlcore.Because(stores.ErrFull, f)
	case "54000", "53200":
		return sqlcore.Because(stores.ErrLimit, f)
	}
	switch e.Code[:2] {
	case "22", "23", "44":
		return refusedBy(stores.ErrInvalid, stores.OtherReason, e)
	}
	return f
}

// refusedBy returns one of our errors with what the server says about it. Only a function that
// raises has words of its own: the server's quote values.
func refusedBy(ours error, why stores.Refusal, e *pgconn.PgError) error {
	r := &stores.Refused{Why: why, Code: e.Code, Constraint: e.ConstraintName}
	if e.TableName != "" {
		r.Table = e.SchemaName + "." + e.TableName
	}
	if e.ColumnName != "" {
		r.Columns = []string{e.ColumnName}
	}
	switch {
	case why == stores.Raised:
		r.Text = e.Message
		for _, more := range []string{e.Detail, e.Hint} {
			if more != "" {
				r.Text += " (" + more + ")"
			}
		}
	case why == stores.Failed: // of a missing table, column or right, and with names alone
		r.Text = e.Message + " (" + strings.ReplaceAll(e.Where, "\n", "; ") + ")"
	case e.DataTypeName != "":
		r.Text = "type " + e.SchemaName + "." + e.DataTypeName
	}
	return sqlcore.Because(ours, r)
}

// missing begins the error of a statement that did not find the row that it needs. The server has
// to detect that, and not the client: the statements that follow, the commit too, may already be
// on their way. The error is an impossible cast, because SQL has no other way to fail, and its
// number says which row was missing.
const missing = "verbatim missed "

// orMiss writes an expression that fails if a condition is false.
func orMiss(holds, number string) string {
	return "CASE WHEN " + holds + " THEN 0 ELSE ('" + missing + "' || " + number + ")::int END"
}

// counted makes a statement fail, with the error otherwise, unless it returns so many rows.
func (o op) counted(rows int, otherwise error) op {
	o.args = append(o.args[:len(o.args):len(o.args)], strconv.Itoa(rows))
	o.sql = "WITH u AS (" + o.sql + ") SELECT " + orMiss("count(*) = $"+strconv.Itoa(len(o.args))+"::bigint", "count(*)") + " FROM u"
	o.fails = func(int64) error { return otherwise }
	return o
}

// fault returns the error of this statement as one of ours.
func (o *op) fault(ctx context.Context, err error) error {
	var e *pgconn.PgError
	if o.fails != nil && errors.As(err, &e) && e.Code == "22P02" {
		if _, text, ok := strings.Cut(e.Message, missing); ok {
			n, _ := strconv.ParseInt(strings.TrimRight(text, `"\'»“”`), 10, 64)
			return o.fails(n)
		}
	}
	return fault(ctx, o.doing, err)
}

// refuses reports whether the server refused a statement because of the rows and values that it
// met: with others the same statement would succeed.
func refuses(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code[:2] {
	case "22", "23", "40", "44":
		return true
	}
	return e.Code == "55P03" || e.Code == "42501" && e.Routine == "ExecWithCheckOptions"
}

func ours(err error) bool {
	for _, known := range []error{stores.ErrNotFound, stores.ErrConflict, stores.ErrDuplicate, stores.ErrInvalid, stores.ErrUnknown,
		stores.ErrFull, stores.ErrStandby, stores.ErrCrowded, stores.ErrSlow, stores.ErrLimit, stores.ErrReadOnly, stores.ErrSchema, stores.ErrFenced, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	var chain *stores.ChainError
	return errors.As(err, &chain)
}

var errURL = errors.New("the URL cannot be read")

// plainCause keeps passwords out: an error of parsing or connecting may quote
// the whole URL.
func plainCause(err error) error {
	var connect *pgconn.ConnectError
	var parse *pgconn.ParseConfigError
	var file *fs.PathError
	switch {
	case errors.As(err, &parse) && errors.As(err, &file):
		return file
	case errors.As(err, &parse):
		return errURL
	case errors.As(err, &connect):
		return fmt.Errorf("no connection: %w", connect.Unwrap())
	}
	return err
}

func about(e *pgconn.PgError) string {
	switch {
	case e.ConstraintName != "":
		return "constraint " + e.ConstraintName
	case e.ColumnName != "":
		return "column " + e.TableName + "." + e.ColumnName
	}
	return e.TableName
}

// commitFault interprets the error of a commit. If the server answered with an error, it did not
// commit; if the answer is missing, nobody knows. A server that is shutting down may have done
// either before it said so, unless it said so in the place of the answer to a statement before
// COMMIT: answers come in order. where is negative before COMMIT, and positive behind its answer:
// what fails then is the connection, and the transaction is committed.
func commitFault(err error, where int) error {
	var f *failure
	switch {
	case err == nil || where > 0:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return sqlcore.Because(stores.ErrUnknown, &failure{doing: "commit", cause: err})
	case !errors.As(err, &f):
		return err
	case f.code == "" && pgconn.SafeToRetry(f.cause):
		return err
	case f.code == "" || f.code[:2] == "57" && where == 0 || f.code[:2] == "08":
		return sqlcore.Because(stores.ErrUnknown, f)
	}
	return err
}
