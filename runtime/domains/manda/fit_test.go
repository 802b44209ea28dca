package manda_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"verbatim/runtime/domains/manda"
	"verbatim/runtime/files/documents"
)

var fit = flag.String("fit", "", "the file of the weights of proposals, which TestWeights writes anew from the tuned reports of -outside")

// bars are likelihoods from which on a figure might be told.
var bars = [...]float64{0.15, 0.2, 0.25, 0.3, 0.4}

// A trial is a question with its proposals.
type trial struct {
	features [][]float64
	right    []bool
}

// How sure an answer is, G11: the weights of proposals are fitted to the reports that may be tuned on, so
// that the likelihood of those that are right, each against all others and against none being right, is
// greatest. The proposals depend on the weights, so it is done twice.
func TestWeights(t *testing.T) {
	if *outside == "" || *fit == "" {
		t.Skip("-outside names no folder, or -fit no file")
	}
	names := map[string]int{}
	var trials []trial
	var lock sync.Mutex
	var wait sync.WaitGroup
	type counted struct {
		asked, reachable, first int
		told, wrong             [len(bars)]int // above each likelihood
	}
	groups := map[string]*counted{}
	var missed []string
	all := eachLine[*outsideReport](t, filepath.Join(*outside, "tatqa", "reports.jsonl"))
	const workers = 2
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(all); i += workers * *every {
				r, book := all[i], &manda.Book{}
				doc, err := documents.Read(t.Context(), "Annual_Report.docx", bytes.NewReader(r.docx()), documents.Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				book.Add("Annual_Report.docx", &doc)
				for k := range r.Questions {
					q := &r.Questions[k]
					list := book.Proposals(q.Question)
					lock.Lock()
					group := q.judge(nil).group + map[bool]string{true: ", held"}[r.held()]
					n := groups[group]
					if n == nil {
						n = &counted{}
						groups[group] = n
					}
					n.asked++
					var one trial
					told := ""
					for i, p := range list {
						x := make([]float64, 120)
						for name, n := range p.Features {
							if _, ok := names[name]; !ok {
								names[name] = len(names)
							}
							x[names[name]] = n
						}
						how := q.judge(asLines(p.Lines)).how
						one.features = append(one.features, x)
						one.right = append(one.right, how == "right")
						if i < 8 {
							told += fmt.Sprintf("  > %.2f %s %s\n", p.Sure, how, strings.TrimSpace(strings.SplitN(saidLines(asLines(p.Lines)), "\n", 2)[0]))
						}
						for b, bar := range bars {
							if i == 0 && p.Sure >= bar && how == "right" {
								n.told[b]++
							} else if i == 0 && p.Sure >= bar && how == "wrong" {
								n.wrong[b]++
							}
						}
					}
					if slices.Contains(one.right, true) {
						n.reachable++
					}
					if len(one.right) > 0 && one.right[0] {
						n.first++
					} else if !r.held() {
						missed = append(missed, fmt.Sprintf("%s %v %s\n  ? %s\n  = %s %s (%s, %s)\n%s", group, slices.Contains(one.right, true), r.Report, q.Question, q.Answer, q.Scale, q.Where, q.Derivation, told))
					}
					if len(one.right) > 0 && !r.held() {
						trials = append(trials, one)
					}
					lock.Unlock()
				}
			}
		})
	}
	wait.Wait()
	w, loss := fitted(trials, names)
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		n := groups[group]
		of := func(k int) float64 { return 100 * float64(k) / float64(n.asked) }
		t.Logf("%-16s %4d questions, %.1f %% with a proposal that is right, %.1f %% with it as the first by the weights until now", group, n.asked, of(n.reachable), of(n.first))
		for b, bar := range bars {
			t.Logf("%-16s      from %.2f on %.1f %% right, %.1f %% wrong", "", bar, of(n.told[b]), of(n.wrong[b]))
		}
	}
	if *misses != "" {
		slices.Sort(missed)
		if err := os.WriteFile(*misses, []byte(strings.Join(missed, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d with proposals, loss %.4f", len(trials), loss)
	old, err := os.ReadFile(*fit)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&b, "%s | %.2f\n", name, w[names[name]])
	}
	if err := os.WriteFile(*fit, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asLines are the lines of an answer as the verb returns them.
func asLines(all []manda.Line) (lines []toldLine) {
	for _, l := range all {
		is := toldLine{"text": l.Text, "role": string(l.Role), "document": l.Document, "place": l.Place}
		if l.Fact != nil {
			v, _ := new(big.Rat).Set(l.Fact.Value).Float64()
			is["value"], is["unit"], is["period"] = fmt.Sprint(v), l.Fact.Unit, l.Fact.Period
		}
		lines = append(lines, is)
	}
	return lines
}

// known are weights of what the reports have too little of to tell; the others are kept near 0.
var known = map[string]float64{"row forecast": -3}

// fitted returns the weights of the greatest likelihood, kept near 0 or what is known, by Adam.
func fitted(trials []trial, names map[string]int) (w []float64, loss float64) {
	n := len(names)
	toward := make([]float64, n)
	for name, k := range names {
		toward[k] = known[name]
	}
	const steps, rate, small = 600, 0.05, 3.0
	w = make([]float64, n)
	m, v := make([]float64, n), make([]float64, n)
	for step := 1; step <= steps; step++ {
		g := make([]float64, n)
		loss = 0
		for _, one := range trials {
			total, right := 1.0, 0.0
			e := make([]float64, len(one.right))
			for i, x := range one.features {
				s := 0.0
				for k := range n {
					s += w[k] * x[k]
				}
				e[i] = math.Exp(min(s, 30))
				if total += e[i]; one.right[i] {
					right += e[i]
				}
			}
			of := right
			if right == 0 {
				of = 1
			}
			loss -= math.Log(of / total)
			for i, x := range one.features {
				d := -e[i] / total
				if one.right[i] {
					d += e[i] / right
				}
				for k := range n {
					g[k] += d * x[k]
				}
			}
		}
		for k := range n {
			g[k] -= small * (w[k] - toward[k])
			m[k], v[k] = 0.9*m[k]+0.1*g[k], 0.999*v[k]+0.001*g[k]*g[k]
			w[k] += rate * m[k] / (1 - math.Pow(0.9, float64(step))) / (math.Sqrt(v[k]/(1-math.Pow(0.999, float64(step)))) + 1e-8)
		}
	}
	return w, loss / float64(len(trials))
}
