package receipt

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"verbatim/stores"
)

// The kept form is for the store and the journal: JSON with the keys of rows and without white
// space, its members in one order, empty ones left out. A sensitive value is left out, with a
// note that there was one, or replaced by a commitment. One coder writes and reads it, so that
// each type is described once. The digest of an agreement is computed over the same text, but
// with sensitive values and without names.

// version is the version of the kept form. No other is read.
const version = 1

// AppendKept appends the kept form of a receipt.
func (r *Receipt) AppendKept(b []byte) []byte {
	c := coder{b: b}
	c.receipt(r)
	return c.b
}

// ParseKept reads what AppendKept wrote, and nothing else: an unknown member, another order, a
// blank or another version is an error.
func ParseKept(text string) (*Receipt, error) {
	var r Receipt
	c := coder{reading: true, left: text}
	c.receipt(&r)
	if c.err == nil && c.left != "" {
		c.fail("something stands behind its end")
	}
	if c.err == nil && string(r.AppendKept(nil)) != text {
		c.fail("it is not written as receipts are")
	}
	if c.err != nil {
		return nil, fmt.Errorf("a receipt that was kept cannot be read: %w", c.err)
	}
	return &r, nil
}

// AppendKept appends the kept form of a row, for an entry of the journal.
func (r *Row) AppendKept(b []byte) []byte {
	c := coder{b: b}
	c.row(r)
	return c.b
}

// ParseRow reads a row that AppendKept wrote, and returns the text after it. A caller that reads
// many rows should write them again and compare the text.
func ParseRow(text string) (r Row, rest string, err error) {
	c := coder{reading: true, left: text}
	c.row(&r)
	return r, c.left, c.err
}

// AppendDigest appends the content of the call that an agreement covers: everything that it would
// do, sensitive values included, but no names, which depend on the session. alias names the
// values that differ between two previews although nothing has changed: generated keys, and
// instants counted from now.
func (c *Call) AppendDigest(b []byte, alias map[stores.Value]string) []byte {
	d := coder{b: b, digest: true, alias: alias}
	d.call(c)
	return d.b
}

// A coder writes, reads or digests. Each of its methods does all three: it writes a member that
// is not empty, or reads one that is present.
type coder struct {
	b      []byte
	digest bool
	alias  map[stores.Value]string

	reading bool
	left    string
	err     error
	begun   bool // the current object or list has a member before this one
}

func (c *coder) fail(why string) {
	if c.err == nil {
		c.err = errors.New(why)
	}
	c.left = ""
}

// sign writes a punctuation sign, or reads it.
func (c *coder) sign(s string) {
	if !c.reading {
		c.b = append(c.b, s...)
		return
	}
	rest, ok := strings.CutPrefix(c.left, s)
	if c.left = rest; !ok {
		c.fail("there is no " + s + " where one belongs, or a member that nobody knows")
	}
}

// object writes or reads members between braces.
func (c *coder) object(members func()) {
	outer := c.begun
	c.sign("{")
	c.begun = false
	members()
	c.sign("}")
	c.begun = outer
}

// member begins a member of an object. It reports whether there is one; when writing, holds says
// so.
func (c *coder) member(name string, holds bool) bool {
	if c.reading {
		rest := c.left
		if c.begun {
			rest = strings.TrimPrefix(rest, ",")
		}
		if !strings.HasPrefix(rest, `"`) || !strings.HasPrefix(rest[1:], name+`":`) {
			return false
		}
		c.left, c.begun = rest[len(name)+3:], true
		return true
	}
	if !holds {
		return false
	}
	if c.begun {
		c.b = append(c.b, ',')
	}
	c.b = append(append(append(c.b, '"'), name...), `":`...)
	c.begun = true
	return true
}

func (c *coder) text(name string, s *string) {
	if c.member(name, *s != "") {
		c.word(s)
	}
}

// word writes or reads a text.
func (c *coder) word(s *string) {
	if !c.reading {
		c.b = stores.AppendJSONString(c.b, *s)
		return
	}
	raw := c.raw()
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && strings.IndexByte(raw, '\\') < 0 {
		*s = strings.Clone(raw[1 : n-1]) // so that the whole text is not kept in memory
	} else if json.Unmarshal([]byte(raw), s) != nil {
		c.fail("there is no text where one belongs")
	}
}

func (c *coder) commitment(name string, is *Commitment) { c.text(name, (*string)(is)) }

func (c *coder) flag(name string, is *bool) {
	if c.member(name, *is) {
		c.sign("true")
		*is = true
	}
}

func (c *coder) integer(name string, n *int64) {
	if !c.member(name, *n != 0) {
		return
	}
	if !c.reading {
		c.b = strconv.AppendInt(c.b, *n, 10)
		return
	}
	var err error
	if *n, err = strconv.ParseInt(c.raw(), 10, 64); err != nil {
		c.fail("there is no number where one belongs")
	}
}

func (c *coder) number(name string, n *int) {
	as := int64(*n)
	c.integer(name, &as)
	*n = int(as)
}

// raw reads a JSON value as text.
func (c *coder) raw() string {
	depth, quoted := 0, false
	for i := 0; i < len(c.left); i++ {
		ch := c.left[i]
		switch {
		case quoted && ch == '\\':
			i++
		case ch == '"':
			quoted = !quoted
		case quoted:
		case ch == '[' || ch == '{':
			depth++
		case depth == 0 && (ch == ',' || ch == '}' || ch == ']'):
			raw := c.left[:i]
			c.left = c.left[i:]
			return raw
		case ch == ']' || ch == '}':
			depth--
		}
	}
	c.fail("it ends too soon")
	return ""
}

// list writes or reads items between brackets. An empty list is left out.
func list[T any](c *coder, name string, all *[]T, item func(*T)) {
	if !c.member(name, len(*all) > 0) {
		return
	}
	items(c, all, item)
	if c.reading && *all == nil {
		c.fail("a list that is empty is left out")
	}
}

func items[T any](c *coder, all *[]T, item func(*T)) {
	outer := c.begun
	c.sign("[")
	if c.reading {
		for c.err == nil && !strings.HasPrefix(c.left, "]") {
			if *all != nil {
				c.sign(",")
			}
			var one T
			item(&one)
			*all = append(*all, one)
		}
	} else {
		for i := range *all {
			if i > 0 {
				c.b = append(c.b, ',')
			}
			item(&(*all)[i])
		}
	}
	c.sign("]")
	c.begun = outer
}

func (c *coder) texts(name string, all *[]string) { list(c, name, all, c.word) }

// key writes the key of a row as plain does. A number that the database made for a new row is
// written as that row's name.
func (c *coder) key(entity string, v *stores.Value) {
	if name, ok := c.numbered(entity, v); ok {
		c.b = stores.AppendJSONString(append(c.b, '!'), name)
		return
	}
	c.plain(v, v.Kind())
}

func (c *coder) numbered(entity string, v *stores.Value) (name string, ok bool) {
	if !c.digest || v.Kind() == stores.UUID || v.IsNull() {
		return "", false
	}
	name, ok = c.alias[stores.NewRow(entity, *v)]
	return name, ok
}

// keyed is value for the key of a row.
func (c *coder) keyed(name, entity string, v *stores.Value) {
	if _, ok := c.numbered(entity, v); !ok {
		c.value(name, v)
	} else if c.member(name, true) {
		c.key(entity, v)
	}
}

// plain writes or reads a value of a known kind.
func (c *coder) plain(v *stores.Value, kind stores.Kind) {
	if c.reading {
		c.parse(v, kind, c.raw())
		return
	}
	if name, ok := c.alias[*v]; ok {
		// No JSON value begins like this.
		c.b = stores.AppendJSONString(append(c.b, '!'), name)
		return
	}
	c.b = v.AppendJSON(c.b)
}

func (c *coder) parse(v *stores.Value, kind stores.Kind, raw string) {
	var ok bool
	if kind == stores.JSON { // in JSON, null is a value
		is, err := stores.ParseJSON(raw)
		*v, ok = is, err == nil
	} else {
		*v, ok = stores.FromJSON(kind, []byte(raw))
	}
	if !ok || v.IsNull() {
		c.fail("a value is no " + kind.String())
	}
}

// kind writes or reads the name of a kind, which is left out if it is the usual one.
func (c *coder) kind(kind *stores.Kind, usual stores.Kind) {
	if !c.member("Kind", *kind != usual) {
		if c.reading {
			*kind = usual
		}
		return
	}
	name := kind.String()
	if c.word(&name); !c.reading {
		return
	}
	for k := stores.Null; k <= stores.JSON; k++ {
		if k.String() == name && k != usual {
			*kind = k
			return
		}
	}
	c.fail("a value is of a kind that nobody knows: " + name)
}

// any writes or reads a value with its kind: ["date","2025-01-03"], or null.
func (c *coder) any(v *stores.Value) {
	switch {
	case c.reading && strings.HasPrefix(c.left, "null"):
		c.left = c.left[len("null"):]
	case c.reading:
		var parts []string
		if json.Unmarshal([]byte(c.raw()), &parts) != nil || len(parts) != 2 {
			c.fail("there is no value where one belongs")
			return
		}
		for k := stores.Null + 1; k <= stores.JSON; k++ {
			if k.String() == parts[0] {
				var ok bool
				if *v, ok = stores.Parse(k, parts[1]); !ok {
					c.fail("a value is no " + parts[0])
				}
				return
			}
		}
		c.fail("a value is of a kind that nobody knows: " + parts[0])
	case v.IsNull():
		c.b = append(c.b, "null"...)
	default:
		if _, ok := c.alias[*v]; ok {
			c.plain(v, v.Kind())
			return
		}
		c.b = append(append(c.b, `["`...), v.Kind().String()...)
		c.b = append(stores.AppendJSONString(append(c.b, `",`...), v.Text()), ']')
	}
}

func (c *coder) value(name string, v *stores.Value) {
	if c.member(name, !v.IsNull()) {
		c.any(v)
	}
}

// told reports whether values that may be sensitive are written.
func (c *coder) told(sensitive bool) bool { return c.digest || !sensitive }

// What the types hold

func (c *coder) receipt(r *Receipt) {
	c.object(func() {
		v, digest := int64(version), ""
		if r.Digest != [32]byte{} {
			digest = hex.EncodeToString(r.Digest[:])
		}
		if c.integer("v", &v); v != version {
			c.fail(fmt.Sprintf("it is of version %d, and this program reads version %d", v, version))
		}
		list(c, "Calls", &r.Calls, c.call)
		c.text("Digest", &digest)
		c.flag("Done", &r.Done)
		c.integer("First", &r.First)
		c.text("ID", &r.ID)
		c.integer("Last", &r.Last)
		c.flag("Repeated", &r.Repeated)
		if c.reading && digest != "" {
			if n, err := hex.Decode(r.Digest[:], []byte(digest)[:min(len(digest), 2*len(r.Digest))]); err != nil || n != len(r.Digest) {
				c.fail("its digest is none")
			}
		}
	})
}

func (c *coder) call(k *Call) {
	c.object(func() {
		list(c, "Asks", &k.Asks, c.ask)
		c.text("Call", &k.Text)
		list(c, "Errands", &k.External, c.externalCall)
		list(c, "Filled", &k.Filled, c.filled)
		list(c, "Notices", &k.Notices, c.notice)
		if !c.digest { // it is made of what the engine hashes itself
			c.text("Origins", &k.Origins)
		}
		c.text("Passed", &k.Passed)
		c.place("Place", &k.Place)
		if there := k.Result != nil && !(c.digest && k.Result.Late); c.member("Result", there) {
			if c.reading {
				k.Result = &Result{}
			}
			c.result(k.Result)
		}
		list(c, "Rows", &k.Rows, c.row)
		if !c.digest {
			c.integer("Seq", &k.Seq)
		}
		list(c, "Session", &k.Session, c.setting)
		list(c, "Tended", &k.JobChanges, c.jobChange)
		if !c.digest {
			c.value("Undo", &k.Undo)
		}
		c.text("Verb", &k.Verb)
		c.text("Within", &k.Within)
	})
}

func (c *coder) place(name string, p *Place) {
	if c.digest || !c.member(name, *p != (Place{})) {
		return
	}
	c.object(func() {
		c.number("Column", &p.Column)
		c.number("Line", &p.Line)
		c.text("Source", &p.Source)
	})
	if c.reading && *p == (Place{}) {
		c.fail("a place is nowhere")
	}
}

func (c *coder) row(r *Row) {
	c.object(func() {
		c.text("Entity", &r.Entity)
		list(c, "Fields", &r.Fields, c.field)
		if !c.digest { // of which Key is a part
			list(c, "Given", &r.Given, c.field)
		}
		raw := ""
		if c.member("Key", !r.Key.IsNull()) {
			if c.reading {
				raw = c.raw()
			} else {
				c.key(r.Entity, &r.Key)
			}
		}
		kind := r.Key.Kind()
		if raw != "" || !r.Key.IsNull() {
			if c.kind(&kind, stores.UUID); raw != "" {
				c.parse(&r.Key, kind, raw)
			}
		}
		if !c.digest {
			c.text("Label", &r.Label)
			if r.NameIs == "" {
				c.text("Name", &r.Name)
			}
			c.commitment("NameIs", &r.NameIs)
		}
		c.text("Op", &r.Op)
		if !c.digest {
			c.text("Owner", &r.Owner)
		}
		c.text("Table", &r.Table)
	})
}

func (c *coder) field(f *Field) {
	c.object(func() {
		told := c.told(f.Sensitive)
		after := c.side("After", &f.After, told)
		before := c.side("Before", &f.Before, told)
		c.flag("Code", &f.Code)
		c.text("Column", &f.Column)
		c.text("Field", &f.Name)
		if c.member("File", f.File != nil) {
			if c.reading {
				f.File = &File{}
			}
			c.file(f.File)
		}
		c.text("From", &f.From)
		given := c.side("Given", &f.Given, told)
		c.kind(&f.Kind, stores.String)
		c.flag("Made", &f.Made)
		c.text("Origin", &f.Origin)
		c.flag("Sensitive", &f.Sensitive)
		c.text("Was", &f.Was)
		if after != "" {
			c.parse(&f.After.Value, f.Kind, after)
		}
		if before != "" {
			c.parse(&f.Before.Value, f.Kind, before)
		}
		if given != "" {
			c.parse(&f.Given.Value, f.Kind, given)
		}
	})
}

// side writes one of the two values of a field, or its substitute. When it reads, it returns the
// value as text: its kind comes later.
func (c *coder) side(name string, v *Value, told bool) (raw string) {
	if c.member(name, told && v.Is == "" && !v.Value.IsNull()) {
		if c.reading {
			raw = c.raw()
		} else {
			c.key(v.Entity, &v.Value)
		}
	}
	c.commitment(name+"Is", &v.Is)
	if !c.digest && told {
		c.text(name+"Name", &v.Name)
	}
	return raw
}

// both writes a value that has its own kind, and its name.
func (c *coder) both(name string, v *Value, told bool) {
	if c.reading || told {
		c.keyed(name, v.Entity, &v.Value)
		if !c.digest {
			c.text(name+"Name", &v.Name)
		}
	}
}

func (c *coder) notice(n *Notice) {
	c.object(func() {
		c.value("At", &n.At)
		if !c.digest { // its text has names
			c.text("Calls", &n.Calls)
		}
		c.number("Instead", &n.Instead)
		c.text("Kind", &n.Kind)
		c.text("Target", &n.Target)
	})
}

func (c *coder) filled(f *Filled) {
	c.object(func() {
		c.texts("By", &f.By)
		c.text("Entity", &f.Entity)
		c.value("Key", &f.Key)
		if !c.digest {
			c.text("Label", &f.Label)
			c.text("Name", &f.Name)
		}
		c.number("Of", &f.Of)
		c.text("Param", &f.Param)
		c.text("Stand", &f.Stand)
	})
}

func (c *coder) jobChange(t *JobChange) {
	c.object(func() {
		c.number("Attempt", &t.Attempt)
		c.flag("Drop", &t.Drop)
		c.text("ID", &t.ID)
		c.text("Kind", &t.Kind)
		c.text("Note", &t.Note)
		c.text("Principal", &t.Principal)
		c.text("State", &t.State)
		c.text("What", &t.What)
	})
}

func (c *coder) ask(a *Ask) {
	c.object(func() {
		c.text("By", &a.By)
		c.number("Call", &a.Call)
		c.text("Reason", &a.Reason)
		c.place("Rule", &a.Rule)
	})
}

func (c *coder) setting(s *Setting) {
	c.object(func() {
		c.both("After", &s.After, c.told(s.Sensitive))
		c.both("Before", &s.Before, c.told(s.Sensitive))
		c.text("From", &s.From)
		c.text("Name", &s.Name)
		c.text("Origin", &s.Origin)
		c.flag("Sensitive", &s.Sensitive)
	})
}

func (c *coder) file(f *File) {
	c.object(func() {
		c.text("Name", &f.Name)
		c.text("Reference", &f.Reference)
		c.text("Says", &f.Says)
		c.integer("Size", &f.Size)
		c.text("Type", &f.Type)
	})
}

func (c *coder) externalCall(e *ExternalCall) {
	c.object(func() {
		if !c.digest {
			c.value("Answered", &e.Answered)
		}
		c.flag("Here", &e.Local)
		c.text("Name", &e.Name)
		if !c.digest {
			c.flag("Previewed", &e.Previewed)
		}
		c.flag("ReadOnly", &e.ReadOnly)
		list(c, "Sent", &e.Sent, func(s *Sent) {
			c.object(func() {
				c.text("From", &s.From)
				c.text("Key", &s.Key)
				c.text("Origin", &s.Origin)
				c.flag("Sensitive", &s.Sensitive)
				if c.reading || c.told(s.Sensitive) {
					c.value("Value", &s.Value)
				}
			})
		})
		c.text("Server", &e.Server)
		list(c, "Then", &e.Then, func(f *Follow) {
			c.object(func() {
				c.texts("Fields", &f.Fields)
				c.text("Op", &f.Op)
				c.text("What", &f.What)
			})
		})
		if !c.digest {
			c.number("Tries", &e.Tries)
		}
	})
}

func (c *coder) result(r *Result) {
	c.object(func() {
		c.texts("Columns", &r.Columns)
		c.text("Entity", &r.Entity)
		if !c.digest && c.member("File", r.File != nil) {
			if c.reading {
				r.File = &File{}
			}
			c.file(r.File)
		}
		c.text("Found", (*string)(&r.Found))
		c.text("From", &r.From)
		if !c.digest {
			list(c, "Keys", &r.Keys, c.any)
		}
		c.flag("Late", &r.Late)
		c.texts("Left", &r.Left)
		list(c, "Origins", &r.Origins, func(row *[]string) { items(c, row, c.word) })
		if !c.digest {
			list(c, "Own", &r.Own, c.yes)
			c.texts("Owners", &r.Owners)
		}
		list(c, "Refs", &r.Refs, func(f *Ref) {
			c.object(func() {
				c.number("Column", &f.Column)
				c.text("Entity", &f.Entity)
				c.keyed("Key", f.Entity, &f.Key)
				c.number("Row", &f.Row)
			})
		})
		refs, n := r.Refs, 0
		list(c, "Rows", &r.Rows, func(row *[]stores.Value) {
			j := 0
			items(c, row, func(v *stores.Value) {
				at := j
				j++
				for len(refs) > 0 && (refs[0].Row < n || refs[0].Row == n && refs[0].Column < at) {
					refs = refs[1:]
				}
				named := len(refs) > 0 && refs[0].Row == n && refs[0].Column == at
				withheld := !c.reading && r.Withheld(at)
				switch {
				case !c.digest && withheld, c.digest && named:
					c.b = append(c.b, "null"...)
				default:
					c.any(v)
				}
			})
			n++
		})
		list(c, "Sensitive", &r.Sensitive, c.yes)
	})
}

// yes writes or reads one item of a list of flags.
func (c *coder) yes(is *bool) {
	switch {
	case c.reading:
		*is = strings.HasPrefix(c.left, "true")
		c.sign(strconv.FormatBool(*is))
	default:
		c.b = strconv.AppendBool(c.b, *is)
	}
}
