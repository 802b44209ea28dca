// Package files keeps the bytes of files by what they are: a file is found again
// by the SHA-256 of its bytes, and the same bytes are kept once.
//
//	store, err := files.Open(ctx, "verbatim.files", os.Getenv)
//	taken, err := store.Take(ctx, body, 20<<20)       // read, counted and hashed; nobody sees it yet
//	name := files.Name{Sum: taken.Sum, Tag: tag}      // what a row says of it is committed first
//	err = taken.Keep(ctx, name)                       // whole and flushed, or not there
//	r, err := store.Open(ctx, name, 0, -1)
//
// There are two: a directory, and a bucket of a server that speaks S3. One suite
// of tests says what both promise; what it does not say is not promised.
//
// # What is promised
//
// A file that Keep was asked for is there whole or not at all, whatever is cut,
// killed or full in between; when Keep has returned nil it outlives a power
// failure. Keep of a name that is there already does the same work again and
// says the same, so that nobody learns, from the answer or from how long it
// took, that somebody had the same bytes. It also heals a copy that was spoilt.
//
// A reader of a whole file hashes what it reads, and ends with ErrCorrupt, and
// not with io.EOF, where that is not what the name says. Parts are not checked.
//
// Take never holds a file in memory: it goes to the disk as it comes, up to its
// limit and not a byte further. A file of no bytes is refused.
//
// # Names, and how bytes go
//
// A Name is a hash and a tag. Both are arrays of bytes and spelt in lower-case
// hexadecimal, so that there is no name that leads out of the directory. The tag
// tells one keeping of some bytes from a later one. Whoever collects what nobody
// refers to works by names, and a tag that is gone is never used again; so bytes
// that somebody sends at the very moment have a name of their own, and a late or
// repeated Delete can never take them. Package runtime/upload does it: the row
// that refers to a name is committed before Keep, and Delete comes after the
// commit of the row's end.
//
// # The directory
//
//	DIR/in-…                    being read; removed by Tidy when its writer died
//	DIR/ab/abcdef…-0123…        a file, readable by its owner only
//
// A file is written beside, flushed, renamed, and the directory flushed. All is
// done through an os.Root, which does not follow a link that leads outside. Any
// number of processes may share a directory on one machine; a network file system
// must rename atomically.
//
// # S3
//
//	s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION&path-style=true
//
// Without an endpoint it is Amazon's, of the region. The key is taken from
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN and from nowhere
// else; it is in no address, no error and no log. An endpoint is reached by TLS,
// unless it is this very machine. With an endpoint, buckets stand in the path,
// unless path-style is false.
//
// What is taken waits in a file without a name, on the local disk, until its hash
// is known; then it is one PUT, signed over its hash, with a checksum that the
// server holds it against, under a condition: where the name is there already,
// nothing is replaced. Whatever the answer, a HEAD after it says whether what is
// there has the right size, and the right checksum where the server tells it; if
// not, it is put again without the condition. Requests that fail for reasons that
// pass are sent again, four times at most; a body that stalls is cut off; a
// download that breaks goes on where it was.
//
// The signature is computed by Amazon's own module; the five requests are plain
// net/http. Nothing in the server's answer is trusted further than that: the size
// of an answer is bounded, redirects are not followed, and of an error only its
// code is told.
package files
