package serve

import (
	"errors"
	"io"
	"net/http"
	"time"

	"verbatim/runtime/uploads"
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

type fileDoc struct {
	Schema    string `json:"schema"`
	Reference string `json:"reference"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	Size      int64  `json:"size"`
	Sum       string `json:"sha256"`
	Verdict   string `json:"verdict"`
	Expires   string `json:"expires,omitempty"`
}

func newFile(u *uploads.Upload) fileDoc {
	doc := fileDoc{"verbatim/upload@1", u.Reference(), u.Name, u.Type, u.Size, u.Sum, u.Verdict, ""}
	if !u.Expires.IsZero() {
		doc.Expires = stamp(u.Expires)
	}
	return doc
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (v *visit) upload() error {
	if v.Uploads == nil {
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
	return v.json(http.StatusCreated, newFile(&u))
}

func (v *visit) showUpload() error {
	u, err := v.session.Upload(v.r.Context(), "upload://"+v.r.PathValue("id"))
	if errors.Is(err, stores.ErrNotFound) {
		return problem{Status: http.StatusNotFound, Code: "unknown-upload", Title: "there is no such file of yours"}
	}
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, newFile(&u))
}
