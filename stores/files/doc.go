// Package files stores files by content: a file is found by the SHA-256 of its bytes, and the
// same bytes are stored once.
//
//	store, err := files.Open(ctx, "verbatim.files", os.Getenv)
//	taken, err := store.Take(ctx, body, 20<<20)       // read, counted and hashed; nobody sees it yet
//	name := files.Name{Sum: taken.Sum, Tag: tag}      // what a row says of it is committed first
//	err = taken.Keep(ctx, name)                       // whole and flushed, or not there
//	r, err := store.Open(ctx, name, 0, -1)
//
// There are two stores: a directory, and a bucket of a server that speaks S3. One test suite
// defines what both promise; a behaviour that is missing there is not promised.
//
// # What is promised
//
// After Keep, a file exists whole or not at all, whatever connection breaks, process dies or disk
// fills up in between; when Keep has returned nil the file survives a power failure. Keep of a
// name that exists already does the same work again and returns the same, so that nobody learns,
// from the answer or from how long it took, that somebody had the same bytes. It also repairs a
// damaged copy.
//
// A reader of a whole file hashes what it reads, and ends with ErrCorrupt instead of io.EOF if
// the hash does not match the name. Parts are not checked.
//
// Take never holds a file in memory: it writes the file to disk as it arrives, up to its limit
// and not a byte further. An empty file is refused.
//
// # Names, and how files are deleted
//
// A Name is a hash and a tag. Both are arrays of bytes and written in lower-case hexadecimal, so
// that no name leads out of the directory. The tag distinguishes one stored copy of some bytes
// from a later one. The collector of unreferenced files works by names, and a tag that is gone is
// never used again; so bytes that are sent at that very moment get a name of their own, and a
// late or repeated Delete can never remove them. Package runtime/files/intake does it: the row that
// refers to a name is committed before Keep, and Delete comes after the commit that deletes the
// row.
// # The directory
//
//	DIR/in-…                    being read; removed by Tidy when its writer died
//	DIR/ab/abcdef…-0123…        a file, readable by its owner only
//
// A file is written under a temporary name, flushed and renamed, and the directory is flushed.
// All access uses an os.Root, which does not follow a link that leads outside. Any number of
// processes may share a directory on one machine; a network file system must rename atomically.
//
// # S3
//
//	s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION&path-style=true
//
// Without an endpoint it is Amazon's for the region. The key is taken only from
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; it is in no address, no error
// and no log. An endpoint is reached by TLS, unless it is this very machine. With an endpoint,
// buckets are part of the path, unless path-style is false.
//
// A file that is taken waits in an unnamed file, on the local disk, until its hash is known. Then
// it is sent with one PUT, signed over its hash, with a checksum that the server verifies, and
// with a condition: if the name exists already, nothing is replaced. Whatever the answer, a HEAD
// afterwards checks that the stored file has the right size, and the right checksum if the server
// returns it; if not, the file is put again without the condition. Requests that fail for
// temporary reasons are sent again, four times at most; a body that stalls is cut off; an
// interrupted download continues where it was.
//
// The signature is computed by Amazon's own module; the five requests are plain net/http. The
// server's answers are not trusted further: their size is limited, redirects are not followed,
// and only the code of an error is reported.
package files
