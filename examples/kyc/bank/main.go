// Bank is another company's agent: it reads messages from a file, sends them to our agent,
// and writes what was said on both sides.
//
//	bank -url http://localhost:8080 -token T scenario.jsonl
//
// Each line of a file is one step:
//
//	{"send": {"type": "TASK_INIT", "payload": {…}}}   a message; TASK stands for the task before
//	{"many": 200, "send": {…}}                        the same message so often; N is how many before
//	{"as": "rosa", "run": "kyc.release …"}            a script of somebody at our side
//	{"as": "omar", "agree": true}                     agrees to all that waits for them
//	{"follow": true}                                  asks to be told what becomes of the task
//	{"told": "TASK_STATE_COMPLETED"}                  waits for that, signed by our agent
//
// What differs from one run to the next is written as TASK, LINK and SEALED. What a person at
// the bank is shown of a challenge stands below it.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type step struct {
	Send  map[string]any `json:"send"`
	Many  int            `json:"many"`
	As    string         `json:"as"`
	Run   string         `json:"run"`
	Agree bool           `json:"agree"`
	// Follow asks to be told what becomes of the task, and Told waits for that.
	Follow bool   `json:"follow"`
	Told   string `json:"told"`
}

type agent struct {
	url, token string
	task       string
	out        io.Writer
	ear        *ear
}

func main() {
	a := &agent{out: os.Stdout}
	flag.StringVar(&a.url, "url", "http://localhost:8080", "where our agent is")
	flag.StringVar(&a.token, "token", os.Getenv("BANK_TOKEN"), "the token of the bank's agent")
	flag.Parse()
	for _, name := range flag.Args() {
		if err := a.play(name); err != nil {
			fmt.Fprintln(os.Stderr, "bank:", err)
			os.Exit(1)
		}
	}
}

func (a *agent) play(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err := a.step(name, n, s); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return lines.Err()
}

func (a *agent) step(name string, n int, s step) error {
	switch {
	case s.Follow:
		return a.follow()
	case s.Told != "":
		return a.hears(s.Told)
	case s.Run != "":
		fmt.Fprintf(a.out, "%s  %s\n\n", s.As, strings.ReplaceAll(s.Run, a.task, "TASK"))
		file, err := os.CreateTemp("", "*.dsl")
		if err != nil {
			return err
		}
		defer os.Remove(file.Name())
		if _, err := file.WriteString(strings.ReplaceAll(s.Run, "TASK", a.task) + "\n"); err != nil {
			return err
		}
		file.Close()
		return a.verbatim("run", "--as", s.As, file.Name())
	case s.Agree:
		fmt.Fprintf(a.out, "%s  agrees\n\n", s.As)
		waiting, err := exec.Command("verbatim", "confirm", "--as", s.As).Output()
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(waiting)) {
			if id, _, ok := strings.Cut(line, "\t"); ok {
				if err := a.verbatim("confirm", id, "--agree", "--as", s.As); err != nil {
					return err
				}
			}
		}
		return nil
	case s.Many > 0:
		count := map[string]int{}
		for i := range s.Many {
			reply, err := a.send(fmt.Sprint(name, n, i), s.Send, i)
			if err != nil {
				return err
			}
			what := fmt.Sprint(reply["type"])
			if reason, ok := reply["reason"].(string); ok {
				what += ": " + digits.ReplaceAllString(reason, "N")
			}
			count[what]++
		}
		fmt.Fprintf(a.out, "bank  %d messages of other names, one after another\n", s.Many)
		all := []string{}
		for what := range count {
			all = append(all, what)
		}
		slices.Sort(all)
		for _, what := range all {
			fmt.Fprintf(a.out, "kyc   %d × %s\n", count[what], what)
		}
		fmt.Fprintln(a.out)
		return nil
	}
	reply, err := a.send(fmt.Sprint(name, n), s.Send, 0)
	if err != nil {
		return err
	}
	a.tell("bank", s.Send)
	if task, ok := reply["task"].(string); ok {
		a.task = task
		reply["task"] = "TASK"
	}
	if payload, ok := reply["payload"].(map[string]any); ok {
		if data, ok := payload["data"].(map[string]any); ok {
			for key, as := range map[string]string{"sealed_ssn": "SEALED", "migration_link": "LINK"} {
				if _, ok := data[key].(string); ok {
					data[key] = as
				}
			}
		}
	}
	for _, known := range []string{"protocol", "version", "reply_to"} {
		delete(reply, known)
	}
	a.tell("kyc", reply)
	a.show(reply)
	return nil
}

// show tells the bank's clerk what a challenge is about, as they would read it on a screen.
func (a *agent) show(reply map[string]any) {
	if reply["type"] != "TASK_CHALLENGE" {
		return
	}
	payload, _ := reply["payload"].(map[string]any)
	data, _ := payload["data"].(map[string]any)
	fmt.Fprintln(a.out, "clerk PARTIAL MATCH")
	for line := range strings.Lines(fmt.Sprint(payload["message"])) {
		fmt.Fprintf(a.out, "      %s\n", strings.TrimSuffix(line, "\n"))
	}
	for _, shown := range []struct{ as, member string }{
		{"name", "confirmed_name"}, {"alike", "name_confidence"}, {"fits", "matched_fields"}, {"does not fit", "mismatched_fields"}, {"would help", "required_to_proceed"},
	} {
		fmt.Fprintf(a.out, "      %-13s %s\n", shown.as, listed(data[shown.member]))
	}
	fmt.Fprintln(a.out)
}

// listed are the items of a list in one line, or a value that is none.
func listed(v any) string {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprint(item)
	}
	return cmp.Or(strings.Join(texts, ", "), "nothing")
}

var digits = regexp.MustCompile(`\d+`)

// verbatim runs our command, which says what went wrong itself; that something waits for
// somebody else is nothing wrong.
func (a *agent) verbatim(args ...string) error {
	cmd := exec.Command("verbatim", args...)
	told, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == 3 && bytes.Contains(told, []byte("needs-agreement")) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("verbatim %s: %w: %s", args[0], err, told)
	}
	return nil
}

// send sends a message under an id of its own.
func (a *agent) send(id string, message map[string]any, i int) (reply map[string]any, err error) {
	whole := map[string]any{"protocol": "A2A/1.0", "version": "3.0.0", "id": id}
	for key, v := range message {
		whole[key] = v
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer(`"TASK"`, strconv.Quote(a.task), "NUMBER", words(i)).Replace(string(body))
	r, err := http.NewRequest("POST", a.url+"/kyc", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + a.token}, "Content-Type": {"application/json"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return reply, json.NewDecoder(answer.Body).Decode(&reply)
}

// words spells a number in letters, so that names differ.
func words(n int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.Itoa(n))
}

func (a *agent) tell(who string, message map[string]any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("      ", "  ")
	_ = e.Encode(message) // it came out of JSON
	fmt.Fprintf(a.out, "%-5s %s\n", who, b.String())
}
