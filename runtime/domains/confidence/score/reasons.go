package score

import (
	"embed"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Reason explains the value of a measure. It holds only counts and nothing of the answer, so that
// it may be shown to an operator who may not see the answer. The caller decides whether the number
// of rows may be shown.
type Reason struct {
	Measure Measure `json:"measure"`
	Level   Level   `json:"level"`
	Have    int     `json:"have"`
	Of      int     `json:"of"`
}

// In returns the sentence for a reason in a language: "en", "de", "fr" or "es", or one of these
// with a region. Other languages get English. A reason that the catalogue does not have, as a later
// version may record, is shown by its names.
func (r Reason) In(language string) string {
	return strings.NewReplacer("[", "", "]", "").Replace(r.sentence(language))
}

// Words returns the sentence without its figures, for people who may not see those.
func (r Reason) Words(language string) string {
	return figures().ReplaceAllString(r.sentence(language), "")
}

var figures = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^]]*\]`) })

// sentence returns the sentence with its figures in brackets.
func (r Reason) sentence(language string) string {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	sentences, known := catalogue()[language]
	if !known {
		sentences = catalogue()["en"]
	}
	key := string(r.Measure) + "/" + string(r.Level)
	sentence, known := sentences[key]
	if !known {
		return key
	}
	percent := 100
	if r.Of > 0 {
		percent = min(max(r.Have, 0), r.Of) * 100 / r.Of
	}
	return strings.NewReplacer("{have}", strconv.Itoa(r.Have), "{of}", strconv.Itoa(r.Of), "{percent}", strconv.Itoa(percent)).Replace(sentence)
}

//go:embed reasons/*.txt
var reasonFiles embed.FS

// catalogue reads the sentences of each language when they are first wanted. A line is a
// key, a colon and a sentence; lines that begin with # are comments.
var catalogue = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	files, _ := reasonFiles.ReadDir("reasons")
	for _, file := range files {
		text, _ := reasonFiles.ReadFile(path.Join("reasons", file.Name()))
		sentences := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if key, sentence, ok := strings.Cut(line, ":"); ok && line[0] != '#' {
				sentences[key] = strings.TrimSpace(sentence)
			}
		}
		all[strings.TrimSuffix(file.Name(), ".txt")] = sentences
	}
	return all
})
