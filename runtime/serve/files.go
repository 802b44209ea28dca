package serve

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"verbatim/runtime/uploads"
	"verbatim/runtime/wire"
	"verbatim/stores"
)

// Files come in as they are, and are never held in memory.

// A patient reader is given a while for each part, and as long as it takes for all.
type patient struct {
	io.Reader
	c *http.ResponseController
}

func (p patient) Read(b []byte) (int, error) {
	_ = p.c.SetReadDeadline(time.Now().Add(stallTime))
	return p.Reader.Read(b)
}

// slowly is the body of a request that may take its time.
func (v *visit) slowly() io.Reader { return patient{v.r.Body, http.NewResponseController(v.w)} }

// takes reports whether files are taken.
func (s *Server) takes() bool { return s.Uploads != nil && s.Uploads.Scanner != nil }

func (v *visit) upload() error {
	if !v.takes() {
		return problem{Status: http.StatusNotFound, Code: "no-uploads", Title: "no files are taken here"}
	}
	name := v.r.URL.Query().Get("name")
	if name == "" {
		return badBody("the file has no name", "POST /v1/uploads?name=passport.pdf")
	}
	u, err := v.Uploads.Receive(v.r.Context(), v.session, name, v.slowly())
	if err != nil && u.ID == "" {
		return err
	}
	// One that could not be looked at yet is taken: it waits.
	return v.json(http.StatusCreated, wire.NewUpload(&u))
}

var errNoUpload = problem{Status: http.StatusNotFound, Code: "unknown-upload", Title: "there is no such file of yours"}

// giveUpload gives a file to its owner. What is in it is never shown as a page of ours.
func (v *visit) giveUpload() error {
	u, err := v.session.Upload(v.r.Context(), "upload://"+v.r.PathValue("id"))
	if errors.Is(err, stores.ErrNotFound) || v.Uploads == nil || u.Verdict != uploads.Clean && err == nil {
		return errNoUpload
	}
	if err != nil {
		return err
	}
	return v.give(&u, false)
}

const pdf = "application/pdf"

// give gives a file. One to be shown is where it is a PDF, which browsers show as what it
// is: nothing in it can act as a page of ours.
func (v *visit) give(u *uploads.Upload, shown bool) error {
	_, content, err := v.Uploads.Open(v.r.Context(), u.Reference())
	if err != nil {
		return err
	}
	defer content.Close()
	h := v.w.Header()
	h.Set("Content-Type", u.Type)
	h.Set("Content-Length", strconv.FormatInt(u.Size, 10))
	disposition := "attachment"
	h.Set("Content-Security-Policy", "sandbox")
	if shown && u.Type == pdf {
		disposition = "inline"
		h.Set("Content-Security-Policy", "frame-ancestors 'none'") // a viewer shows nothing in a sandbox
	}
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": u.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	c := http.NewResponseController(v.w)
	if err := c.Flush(); err != nil {
		return err
	}
	for b := make([]byte, 1<<16); ; {
		n, err := content.Read(b)
		_ = c.SetWriteDeadline(time.Now().Add(stallTime))
		if _, gone := v.w.Write(b[:n]); gone != nil || err == io.EOF {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // half a file must not look like a whole one
		}
	}
}

func (v *visit) showUpload() error {
	u, err := v.session.Upload(v.r.Context(), "upload://"+v.r.PathValue("id"))
	if errors.Is(err, stores.ErrNotFound) {
		return errNoUpload
	}
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, wire.NewUpload(&u))
}
