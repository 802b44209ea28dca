package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/runtime/internal/sheet"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Verbs can make files, from the rows of a read or by a service. A file is kept as an upload of the
// caller, with no transaction open and before anything is committed. If the run then cannot
// commit, the file stays behind: nobody was told of it, and it expires. A file that a tool made for
// a preview expires with the preview, unless the run that follows commits: see tools_kept.go.

// filesOf returns the external call that makes a file of the rows of a read; nil if the file is made
// already. A preview only names the file.
func filesOf(_ context.Context, r *run, st *step) (*externalCall, error) {
	st.out.cells.file = &tools.File{Name: st.verb.Read.File}
	if r.phase == Previewing {
		return nil, nil
	}
	if r.src.e.opt.Keep == nil {
		return nil, st.refuse("not-carried-out", st.verb.Name, noFilesHere)
	}
	res := r.src.result(st)
	if slices.ContainsFunc(res.Refs, func(f receipt.Ref) bool { return res.Rows[f.Row][f.Column].Text() == newRow }) {
		return nil, st.refuse("no-file", st.verb.Name, "a row that this script adds has no name yet, by which the file could tell of it", "call it in a script of its own")
	}
	rows := make([][]stores.Value, len(res.Rows))
	for i, row := range res.Rows {
		rows[i] = slices.Clone(row)
		for j := range row {
			if res.Sensitive != nil && res.Sensitive[j] {
				rows[i][j] = stores.NewString("(not shown)") // a file goes further than an answer
			}
		}
	}
	e := &externalCall{ExternalCall: receipt.ExternalCall{Name: "file", ReadOnly: true}, st: st}
	e.args = stores.NewString(digestOf(res.Columns, rows))
	e.files = func() (*tools.File, error) {
		content, err := sheet.Write(st.verb.Read.File, res.Columns, rows)
		var long *sheet.TooLong
		if errors.As(err, &long) {
			return nil, st.refuse("no-file", st.verb.Name, long.Error(), "shorten it; comma-separated values hold texts of any length")
		}
		if len(content) > maxFile {
			return nil, st.refuse("no-file", st.verb.Name, fmt.Sprintf("it would have %s, and %s are allowed", verbs.SizeText(int64(len(content))), verbs.SizeText(maxFile)), "ask for fewer rows")
		}
		return &tools.File{Name: st.verb.Read.File, Content: content}, err
	}
	answer, made := r.src.answers[e.id()]
	if !made {
		return e, nil
	}
	st.out.cells.file = answer.File
	return nil, nil
}

// digestOf returns a digest of the rows of a file.
func digestOf(columns []string, rows [][]stores.Value) string {
	var d digest.Writer
	for _, c := range columns {
		d.Text(c)
	}
	for _, row := range rows {
		d.Values(row)
	}
	return d.Hex()
}

// makeFile makes a file and keeps it.
func makeFile(ctx context.Context, s *Session, e *externalCall) (tools.Answer, error) {
	f, err := e.files()
	if err == nil {
		err = keepFile(ctx, s, e.st.verb, f, uploads.Unused)
	}
	var c *callError
	if err != nil && !errors.As(err, &c) {
		err = &Failure{Err: err}
	}
	return tools.Answer{File: f}, err
}

// maxFile is the greatest size in bytes of a file that a verb makes.
const maxFile = 32_000_000

// keepFile keeps the file that a verb made, if it made one, for a time.
func keepFile(ctx context.Context, s *Session, v *verbs.Verb, f *tools.File, lasts time.Duration) error {
	switch {
	case f == nil:
		return nil
	case s.e.opt.Keep == nil:
		return fmt.Errorf("%s makes a file, and nothing keeps files here", v.Name)
	case len(f.Content) > maxFile:
		return fmt.Errorf("%s makes a file of %d bytes, and %d are allowed", v.Name, len(f.Content), maxFile)
	}
	u, err := s.e.opt.Keep(ctx, s, v.Name, f.Name, f.Content, lasts)
	if err != nil {
		return fmt.Errorf("the file of %s could not be kept: %w", v.Name, err)
	}
	told := uploads.FileOf(&u)
	*f = tools.File{Name: told.Name, Type: told.Type, Size: told.Size, Says: told.Says, Reference: u.Reference()}
	return nil
}
