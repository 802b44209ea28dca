package server

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"verbatim/runtime/state/uploads"
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

// Slowly returns the body of a request with a deadline for each part.
func (v *Visit) Slowly() io.Reader { return patient{v.R.Body, http.NewResponseController(v.W)} }

// TakesFiles reports whether this server accepts files.
func (s *Server) TakesFiles() bool { return s.Uploads != nil && s.Uploads.Scanner != nil }

// ErrNoUpload says that a file does not exist, or is not the caller's.
var ErrNoUpload = Problem{Status: http.StatusNotFound, Code: "unknown-upload", Title: "there is no such file of yours"}

// Give sends a file. shown asks to display it, which only a PDF may be: a browser shows it in a
// viewer of its own.
func (v *Visit) Give(u *uploads.Upload, shown bool) error {
	_, content, err := v.Uploads.Open(v.R.Context(), u.Reference())
	if err != nil {
		return err
	}
	defer content.Close()
	h := v.W.Header()
	h.Set("Content-Type", u.Type)
	h.Set("Content-Length", strconv.FormatInt(u.Size, 10))
	disposition := "attachment"
	h.Set("Content-Security-Policy", "sandbox")
	if shown && u.Type == "application/pdf" {
		disposition = "inline"
		h.Set("Content-Security-Policy", "frame-ancestors 'none'") // a viewer shows nothing in a sandbox
	}
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": u.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	c := http.NewResponseController(v.W)
	if err := c.Flush(); err != nil {
		return err
	}
	for b := make([]byte, 1<<16); ; {
		n, err := content.Read(b)
		_ = c.SetWriteDeadline(time.Now().Add(stallTime))
		if _, gone := v.W.Write(b[:n]); gone != nil || err == io.EOF {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // half a file must not look like a whole one
		}
	}
}
