package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// A rule is what the schemas of the palette say of an object and of its parts.
type rule struct {
	Type       string
	Required   []string
	Properties map[string]rule
	OneOf      []struct{ Const string }
	Pattern    string
	Format     string
	MinLength  int
	MaxLength  *int
	Minimum    *float64
	Maximum    *float64
}

// value draws any value that fits a rule, as a script writes it.
func (r *rule) value(t *rapid.T, name string) dsl.Value {
	if len(r.OneOf) > 0 {
		return dsl.NewString(rapid.SampledFrom(r.OneOf).Draw(t, name).Const)
	}
	switch r.Type {
	case "boolean":
		return dsl.NewBool(rapid.Bool().Draw(t, name))
	case "integer":
		return dsl.NewInteger(rapid.Int64Range(int64(*r.Minimum), int64(*r.Maximum)).Draw(t, name))
	case "number":
		low, high := int64(math.Ceil(*r.Minimum*100)), int64(*r.Maximum*100)
		n := rapid.Int64Range(low, high).Draw(t, name)
		return dsl.NewNumber(fmt.Sprintf("%d.%02d", n/100, n%100))
	case "string":
	default:
		t.Fatalf("a schema of the palette has a %s", r.Type)
	}
	if r.Format == "date" {
		first := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
		days := rapid.IntRange(0, int(today.Sub(first).Hours()/24)).Draw(t, name)
		return dsl.NewString(first.AddDate(0, 0, days).Format(time.DateOnly))
	}
	most := 50
	if r.MaxLength != nil {
		most = *r.MaxLength
	}
	if r.Pattern != "" {
		fits := rapid.StringMatching(r.Pattern).Filter(func(s string) bool { return len(s) >= r.MinLength && len(s) <= most && isText(s) })
		return dsl.NewString(fits.Draw(t, name))
	}
	return dsl.NewString(rapid.StringN(r.MinLength, most, -1).Filter(isText).Draw(t, name))
}

// isText reports whether no database refuses a text: a zero character is none.
func isText(s string) bool { return !strings.ContainsRune(s, 0) }

var today = time.Date(2024, 12, 27, 0, 0, 0, 0, time.UTC)

// object draws any object that fits a schema: what is required, some of the rest,
// and what the schema then asks for.
func object(t *rapid.T, s *verbs.Schema) dsl.Value {
	var whole rule
	if err := json.NewDecoder(bytes.NewReader(s.Text())).Decode(&whole); err != nil {
		t.Fatal(err)
	}
	var entries []dsl.Arg
	plain := map[string]any{}
	add := func(key string) {
		part := whole.Properties[key]
		v := part.value(t, key)
		entries = append(entries, dsl.NewArg(key, v))
		switch plain[key] = v.Text; v.Kind {
		case dsl.Bool:
			plain[key] = v.Text == "true"
		case dsl.Integer, dsl.Decimal:
			plain[key] = json.Number(v.Text)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(whole.Properties)) {
		if slices.Contains(whole.Required, key) || rapid.Bool().Draw(t, "with "+key) {
			add(key)
		}
	}
	text, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	v, err := stores.ParseJSON(string(text))
	if err != nil {
		t.Fatal(err)
	}
	missing, err := s.FollowUps(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range missing {
		add(key)
	}
	return dsl.NewMap(entries...)
}

// F21, O11: whatever fits the schema of its kind is taken for a request that asks
// for that kind, and for no other request.
func TestInformationIsOfTheKindThatWasAsked(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		e := b.reg.Entity("collection")
		kinds := e.Fields[e.Store.FieldIndex("info_type")].Type.Codes.Codes
		sessions := map[int]*engine.Session{1: b.visit("clara"), 2: b.visit("jonas")}
		taken, refused := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			request := rapid.SampledFrom(requestsOf).Draw(t, "request")
			if rapid.Bool().Draw(t, "of that kind") {
				for _, r := range requestsOf {
					if r.subtype == kind.Name {
						request = r
					}
				}
			}
			call := dsl.NewCall("client.provide-info", dsl.NewArg("request-id", dsl.NewUUID(key(request.n).Text())),
				dsl.NewArg("info-type", dsl.NewCode(kind.Name)), dsl.NewArg("collected-data", object(t, kind.Schema)))
			script, ds := dsl.Parse(dsl.NewSource("fits.dsl", dsl.FormatCall(&call)))
			if ds.HasErrors() {
				t.Fatalf("%s\n%v", dsl.FormatCall(&call), ds[0])
			}
			s := sessions[request.cbu]
			p, ds := s.Check(context.Background(), script)
			if p == nil {
				t.Fatalf("%s\n%v", dsl.FormatCall(&call), ds)
			}
			_, err := s.Preview(ctx, p)
			var r *engine.Refusal
			switch asked := request.subtype == kind.Name; {
			case asked && err != nil:
				t.Fatalf("%s\n%v", dsl.FormatCall(&call), err)
			case asked:
				taken++
			case !errors.As(err, &r) || r.Diagnostics[0].Code != "requirement-not-met" || !strings.Contains(r.Error(), "asks for other information"):
				t.Fatalf("%s for %s\n%v", dsl.FormatCall(&call), request.subtype, err)
			default:
				refused++
			}
		})
		if taken < 20 || refused < 20 {
			t.Errorf("%d taken, %d refused", taken, refused)
		}
	})
}
