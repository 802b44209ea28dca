package documents

import (
	"archive/zip"
	"bytes"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// formats are the formats by file extension.
var formats = map[string]string{
	".pdf": "pdf", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".docx": "docx", ".docm": "docx", ".dotx": "docx",
	".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx", ".csv": "csv", ".tsv": "csv", ".eml": "mail",
	".html": "html", ".htm": "html", ".xhtml": "html", ".txt": "text", ".text": "text", ".md": "text", ".log": "text",
}

// extract reads the file of a request.
func extract(x *extractor, req request, data []byte) error { return x.read(req.Name, data) }

// read reads a file whose name and bytes agree.
func (x *extractor) read(name string, data []byte) error {
	format, err := x.format(name, data)
	if err != nil {
		return err
	}
	if x.inside == "" {
		x.doc.Format = format
	}
	x.section = ""
	switch format {
	case "pdf":
		return x.pdf(data)
	case "xlsx":
		return x.xlsx(data)
	case "docx":
		return x.docx(data)
	case "pptx":
		return x.pptx(data)
	case "csv":
		return x.csv(data)
	case "mail":
		return x.mail(data)
	case "html":
		return x.html(data)
	}
	return x.text(data)
}

func (x *extractor) format(name string, data []byte) (string, error) {
	ext := strings.ToLower(path.Ext(name))
	says := formats[ext]
	is, called := x.sniff(data, says)
	textual := says == "csv" || says == "mail" || says == "html" || says == "text"
	switch {
	case len(data) == 0:
		return "", &Failure{Reason: Empty}
	case is == "encrypted":
		return "", &Failure{Reason: Encrypted}
	case is == "archive" && says != "" && !textual && called == "":
		return "", fail(Damaged, "it is cut short, or is no archive")
	case is == "" && says != "" && !textual && called == "application/octet-stream":
		return "", fail(Damaged, "nothing in it is known")
	case is == "plain" && textual:
		return says, nil
	case is == "plain" && says == "" && called == "text/html":
		return "html", nil
	case is == "plain" && says == "" && (called == "text/plain" || called == "text/csv"):
		return "text", nil
	case is != "" && is != "plain" && is != "archive" && (says == "" || says == is):
		return is, nil
	case says == "":
		return "", fail(Unsupported, "%s", called)
	}
	return "", fail(WrongType, "the name says %s, the bytes are %s", says, called)
}

// sniff returns the format of some bytes and a name for it. The argument says is the format that
// the file's name indicates.
func (x *extractor) sniff(data []byte, says string) (is, called string) {
	switch head := data[:min(len(data), 1024)]; {
	case bytes.HasPrefix(head, []byte("%PDF-")), says == "pdf" && bytes.Contains(head, []byte("%PDF-")): // some have a few bytes before
		return "pdf", "pdf"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return "archive", ""
		}
		for _, f := range archive.File[:min(len(archive.File), x.limits.Entries)] {
			if f.Name == "xl/workbook.bin" {
				return "", "a binary workbook"
			}
			switch dir, _, _ := strings.Cut(f.Name, "/"); dir {
			case "word":
				is = "docx"
			case "xl":
				is = "xlsx"
			case "ppt":
				is = "pptx"
			}
		}
		if is != "" {
			return is, is
		}
		return "archive", "an archive of files"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		// Office keeps an encrypted workbook in a container of old.
		if bytes.Contains(data, utf16le("EncryptedPackage")) {
			return "encrypted", ""
		}
		return "", "a file of Office 97"
	}
	called, _, _ = strings.Cut(mimetype.Detect(data).String(), ";")
	if strings.HasPrefix(called, "text/") {
		return "plain", called
	}
	if _, _, ok := decode(data); ok {
		return "plain", "text/plain"
	}
	return "", called
}

func utf16le(s string) (b []byte) {
	for _, r := range []byte(s) {
		b = append(b, r, 0)
	}
	return b
}
