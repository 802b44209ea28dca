package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

const sentAlready = "this file was sent for this request already; client.get-request-detail says what became of it"

// O10: the same bytes are one document, whichever reference names them and
// whoever of the client's people sends them. Once they were rejected they may be
// sent again, and they may go to another request.
func TestTheSameBytesAreOneDocument(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		ctx := context.Background()
		if err := p.store.SetPrincipal(ctx, stores.Principal{Name: "carl", Label: "Carl", Roles: []string{"client"},
			Holds: map[string][]stores.Value{"cbu": {keyOf(t, "0000000c-0000-4000-8000-000000000001")}}}); err != nil {
			t.Fatal(err)
		}
		p.sentAgain(t, "clara", "passport", "first", "second", "third", "fourth")
		p.sentAgain(t, "carl", "passport", "carls")
		submit := func(file string) string {
			return fmt.Sprintf(`client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://%s"`, file)
		}
		p.did(t, "clara", submit("first"))
		p.refused(t, "clara", submit("second"), "requirement-not-met", sentAlready)
		p.refused(t, "carl", submit("carls"), "requirement-not-met", sentAlready)
		p.sent(t, "another")
		p.did(t, "clara", submit("another"))

		// One script, which says it twice: nothing of it happens.
		p.sentAgain(t, "clara", "identity card", "front", "front-again")
		p.refused(t, "clara", submit("front")+"\n"+submit("front-again"), "requirement-not-met", sentAlready)

		// Another request may be answered by it.
		p.did(t, "clara", `client.submit-document :request-id @pierre-dupont-source-of-wealth :document-type TAX_RETURN :file-reference "upload://third"`)

		p.did(t, "t.weber", `review.reject :request-id @thomas-muller-identity :reason "The photograph is cut off"`)
		p.did(t, "clara", submit("second"))
		p.refused(t, "clara", submit("fourth"), "requirement-not-met", sentAlready)
		p.did(t, "t.weber", `review.accept :request-id @thomas-muller-identity`)
		n := 0
		for _, row := range p.rows(t, "document-submission") {
			if row["file_reference"].Text() == "upload://second" {
				n++
				if row["content"].IsNull() || row["verdict"].Text() != "ACCEPTED" {
					t.Errorf("it stands there as %v", row)
				}
			}
		}
		if n != 1 {
			t.Errorf("it stands there %d times", n)
		}
	})
}

// O10: many who send the same bytes at once send one document.
func TestTheSameBytesAtOnceAreOneDocument(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		const people = 6
		ctx := context.Background()
		errs := make([]error, people)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range people {
			id := fmt.Sprintf("copy%d", i)
			p.sentAgain(t, "clara", "passport", id)
			session, err := p.engine.Session(ctx, "clara")
			if err != nil {
				t.Fatal(err)
			}
			script, _ := dsl.Parse(dsl.NewSource("passport.dsl",
				fmt.Sprintf(`client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://%s"`, id)))
			prog, ds := session.Check(context.Background(), script)
			if prog == nil {
				t.Fatal(ds)
			}
			wg.Go(func() {
				<-start
				_, errs[i] = session.Run(ctx, prog, engine.RunOptions{})
			})
		}
		close(start)
		wg.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
				continue
			}
			r := wantRefusal(t, err, "requirement-not-met")
			if got := sentences(r); got != sentAlready {
				t.Errorf("told %q", got)
			}
		}
		same := 0
		for _, row := range p.rows(t, "document-submission") {
			if !row["content"].IsNull() {
				same++
			}
		}
		if done != 1 || same != 1 {
			t.Errorf("%d were taken, and %d documents stand there", done, same)
		}
	})
}

func keyOf(t testing.TB, text string) stores.Value {
	t.Helper()
	key, ok := stores.Parse(stores.UUID, text)
	if !ok {
		t.Fatalf("%q is no key", text)
	}
	return key
}

// O10, O30: whoever has to agree sees a file as they know it, by its name, its kind
// and its size, and so does whoever asks again; what its bytes are known by stays
// for programs.
func TestAFileIsShownAsItIsKnown(t *testing.T) {
	t.Parallel()
	p := newPortal(t, sqliteBank(t))
	ctx := context.Background()
	session, err := p.engine.Session(ctx, "clara")
	if err != nil {
		t.Fatal(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("passport.dsl", `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://me"`))
	prog, ds := session.Check(context.Background(), script)
	if prog == nil {
		t.Fatal(ds)
	}
	shows := func(rows []receipt.Row) {
		t.Helper()
		n := 0
		for _, f := range rows[0].Fields {
			switch {
			case f.Name != "file_reference" && f.Name != "content":
				if f.File != nil {
					t.Errorf("%s is no file", f.Name)
				}
			case f.File == nil || *f.File != (receipt.File{Name: "passport.pdf", Type: "application/pdf", Size: 651, Says: "PDF, 651 B"}) || f.After.IsNull():
				t.Errorf("%s: %+v", f.Name, f.File)
			default:
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d files are shown", n)
		}
	}
	preview, err := session.Preview(ctx, prog)
	if err != nil {
		t.Fatal(err)
	}
	shows(preview.Calls[0].Rows)
	for range 2 { // done, and told again
		reply, err := session.Run(ctx, prog, engine.RunOptions{Key: "once"})
		if err != nil {
			t.Fatal(err)
		}
		shows(reply.Calls[0].Rows)
	}
}
