package load

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// sidecarName splits the name of a sidecar; language is "" for a palette.
func sidecarName(file string) (palette, language string) {
	palette = strings.TrimSuffix(path.Base(file), path.Ext(file))
	palette, language, _ = strings.Cut(palette, ".")
	return palette, language
}

// languages are the codes of ISO 639-1.
const languages = "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de " +
	"dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is " +
	"it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my " +
	"na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so " +
	"sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"

// sidecar reads a sidecar, when all verbs of its palette are known.
func (l *loader) sidecar(d *doc) {
	name, language := sidecarName(d.src.Name)
	var beside *doc
	var files []string
	for _, other := range l.docs {
		of, lang := sidecarName(other.src.Name)
		if lang == "" {
			files = append(files, of)
		}
		if lang == "" && of == name && other.beside == d.beside {
			beside = other
		}
	}
	switch {
	case beside == nil:
		diag := tell(d.at(0, 0), "contradiction", d.src.Name+" stands beside no palette "+name+".yaml", "NAME."+language+".yaml is for the palette NAME.yaml", dsl.Place{}, "")
		message.Suggest(&diag, name, files, "palettes")
		diag.Fixes = nil
		d.report(diag)
		return
	case language == "en":
		d.report(tell(d.at(0, 0), "contradiction", "the palette itself is in English", "write what "+d.src.Name+" says into it", dsl.Place{}, ""))
		return
	case len(language) != 2 || !slices.Contains(strings.Fields(languages), language):
		d.report(tell(d.at(0, 0), "bad-value/no-language", language))
		return
	}
	f, ok := d.fields(d.root, "sidecar")
	i := slices.IndexFunc(l.palettes, func(p *verbs.Palette) bool { return p.Source == beside.src })
	if !ok || i < 0 || beside.failed {
		return // the missing text may be one that has an error in the palette
	}
	p := l.palettes[i]
	p.Sidecars = append(p.Sidecars, &verbs.Sidecar{Language: language, Source: d.src})
	known := message.Names(p.Verbs, func(v *verbs.Verb) string { return strings.TrimPrefix(v.Name, p.Domain+".") })
	d.entries(f.at("verbs").value, func(k, n *yaml.Node) {
		at := slices.Index(known, k.Value)
		d.use(k, 0, len(k.Value), VerbThing, p.Domain+"."+k.Value, false, at >= 0, func() []string { return known })
		if at < 0 {
			d.report(tell(d.place(k), "unknown-word", "a verb of "+name+".yaml", k.Value, known))
			return
		}
		d.translate(p.Verbs[at], language, n)
	})
	texts := textsOf(beside.root)
	d.scalars(f.at("says"), func(k, n *yaml.Node) {
		switch {
		case !texts[k.Value]:
			diag := tell(d.place(k), "contradiction", "no text of "+name+".yaml is "+strconv.Quote(message.Shorten(k.Value, 60)), "write it as it stands there", dsl.Place{}, "")
			diag.Label = message.DidYouMean(message.Nearest(k.Value, slices.Sorted(maps.Keys(texts))))
			d.report(diag)
		case n.Value != "":
			if text := (verbs.Saying{Language: language, Text: k.Value}); l.says[text] == "" {
				l.says[text] = verbs.Typeset(language, n.Value)
			}
		}
	})
}

// translate reads the translation of a verb.
func (d *doc) translate(v *verbs.Verb, language string, n *yaml.Node) {
	f, ok := d.fields(n, "translation")
	if !ok {
		return
	}
	if at := f.at("phrases"); v.Internal && at.key != nil {
		d.idle(at.key, v.Name+" is internal, and nobody says it", v.Place)
	} else if all := d.phrases(v, at); len(all) > 0 {
		if v.PhrasesIn == nil {
			v.PhrasesIn = map[string][]string{}
		}
		v.PhrasesIn[language] = all
	}
	if n := f.at("tells").value; n != nil {
		if tf, ok := d.fields(n, "tells"); ok {
			for _, t := range tellings(v) {
				d.wording(v, tf.at(t.key), t.of, language, t.names)
			}
		}
	}
	d.scalars(f.at("asks"), func(k, n *yaml.Node) {
		i := d.paramAt(v, k)
		if i < 0 {
			d.report(unknownArgument(d.place(k), v, k.Value))
			return
		}
		d.wording(v, pair{k, n}, &v.Params[i].Asks, language, nil)
	})
}

// idle reports a translation that has no use.
func (d *doc) idle(key *yaml.Node, why string, declared dsl.Place) {
	d.report(tell(d.place(key), "contradiction", why, "leave it out here, or say it in the palette first", declared, "declared here"))
}

// textsOf returns the texts of a palette, and the words in them that are names, such as the
// session value that an effect sets.
func textsOf(n *yaml.Node) map[string]bool {
	all := map[string]bool{}
	scalars(n, func(n *yaml.Node) {
		all[n.Value] = true
		for _, word := range strings.FieldsFunc(n.Value, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
		}) {
			all[word] = true
		}
	})
	return all
}
