package files

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Open opens the store at an address: a path, or s3://BUCKET/PREFIX with the parameters endpoint,
// region and path-style. env supplies the key of a bucket. No error repeats an address, for a key
// may have been written into it by mistake.
func Open(_ context.Context, where string, env func(string) string) (Store, error) {
	kind, rest, ok := strings.Cut(where, "://")
	switch {
	case where == "":
		return nil, errors.New("nothing says where files are")
	case ok && kind == "s3":
		return openS3(where, env)
	case ok && kind == "file":
		return OpenDir(rest)
	case ok && !strings.ContainsAny(kind, `/\.`):
		return nil, fmt.Errorf("files are kept in a directory or at s3://, not at %s", strconv.Quote(kind+"://"))
	}
	return OpenDir(where)
}

func openS3(where string, env func(string) string) (Store, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, errors.New("an address of files is written like s3://bucket/prefix?endpoint=https://host:port")
	}
	if u.User != nil {
		return nil, errors.New("the key is taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and not from the address")
	}
	at := S3{Bucket: u.Host, Prefix: strings.TrimPrefix(u.Path, "/"),
		Key: env("AWS_ACCESS_KEY_ID"), Secret: env("AWS_SECRET_ACCESS_KEY"), Token: env("AWS_SESSION_TOKEN"), Region: env("AWS_REGION")}
	if at.Prefix != "" && !strings.HasSuffix(at.Prefix, "/") {
		at.Prefix += "/"
	}
	style := ""
	for key, values := range u.Query() {
		switch key {
		case "endpoint":
			at.Endpoint = values[0]
		case "region":
			at.Region = values[0]
		case "path-style":
			style = values[0]
		default:
			return nil, errors.New("an address of files takes endpoint, region and path-style; keys are taken from the environment")
		}
	}
	switch style {
	case "":
		at.PathStyle = at.Endpoint != ""
	case "true", "false":
		at.PathStyle = style == "true"
	default:
		return nil, errors.New("path-style is true or false")
	}
	return OpenS3(at)
}
