package server

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
)

// Uploads are streamed; no file is held in memory.

// A patient reader sets a deadline for each part, and none for the whole.
type patient struct {
	io.Reader
	c *http.ResponseController
}

func (p patient) Read(b []byte) (int, error) {
	_ = p.c.SetReadDeadline(time.Now().Add(stallTime))
	return p.Reader.Read(b)
}

// slowly returns the body of a request with a deadline for each part.
func (v *visit) slowly() io.Reader { return patient{v.r.Body, http.NewResponseController(v.w)} }

// takes reports whether this server accepts files.
func (s *Server) takes() bool { return s.Uploads != nil && s.Uploads.Scanner != nil }

func (v *visit) upload() error {
	if !v.takes() {
		return problem{Status: http.StatusNotFound, Code: "no-uploads", Title: "no files are taken here"}
	}
	name := v.r.URL.Query().Get("name")
	if name == "" {
		return badBody("the file has no name", "POST /v1/uploads?name=passport.pdf")
	}
	if kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		return problem{Status: http.StatusUnsupportedMediaType, Code: "bad-body", Title: "the body is a form, and not the file", Next: "send the file itself, as curl --data-binary @FILE does, and not curl -F"}
	}
	u, err := v.Uploads.Receive(v.r.Context(), v.session, name, v.slowly())
	if err != nil && u.ID == "" {
		return err
	}
	// A file that is not scanned yet is accepted, and waits.
	return v.json(http.StatusCreated, wire.NewUpload(&u))
}

var errNoUpload = problem{Status: http.StatusNotFound, Code: "unknown-upload", Title: "there is no such file of yours"}

// giveUpload sends a file to its owner. The browser must never render its content as one of our
// pages.
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

// give sends a file. shown asks to display it, which only a PDF may be: a browser shows it in a
// viewer of its own.
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
