// Package browsertest drives headless Chromium for the tests of pages: real clicks on a
// real socket, and axe-core to judge the pages.
//
//	tab := browsertest.Open(t)
//	tab.Size(360, "dark")
//	tab.Go(url)
//	tab.Audit("portal")
//
// A journey is what somebody does from beginning to end, such as a client's morning. It is a test beside
// those of package servertest, which begins a server with data of its own and signs people in:
//
//	h := newHouse(t)                        // the program itself, on a database of its own
//	tab := browsertest.Open(t)              // a browser that remembers nothing
//	tab.Size(360, "dark")                   // a phone, in the dark
//	h.signIn(tab, "clara")                  // by a link, as people are
//	tab.Wait("The next thing to do")        // what the page says, within ten seconds
//	tabTo(tab, ".card.next", "Passport")    // by the keyboard alone: Tab, until the focus says that
//	tab.Press(" ")                          // Click, Type and File are those of a mouse and a person
//	tab.File("input[type=file]", names...)
//	follow(tab, "main form", "Send a document")
//	tab.Wait("The bank checks it now.")
//	_, rows := h.rows("document-submission") // and the rows behind the sentence
//
// Assert both the sentences and the rows: a page that says what is not so passes by its sentences alone.
// Wait for a sentence, never for a time. Between two acts of a person, tab.Shift says how much of the page
// moved unasked, and tab.Audit judges what is there. make pages writes pictures of what is audited.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Widths are the widths at which pages are judged, in CSS pixels, the narrowest first.
var Widths = []int64{320, 360, 1280}

// A Tab is a tab with cookies and files of its own: it remembers nothing from another test.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	axe  string
	wide int64
	look string
	acts bool // the last act of the person may move what is below it
}

// Open opens a tab, and closes it with the test. Without Chromium or axe-core the test is
// skipped, or fails where TEST_REQUIRE_CHROMIUM is set.
func Open(t testing.TB) *Tab {
	t.Helper()
	without := func(what string) {
		t.Helper()
		if os.Getenv("TEST_REQUIRE_CHROMIUM") != "" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		without("no Chromium: make chromium finds or installs it")
	}
	axe, err := os.ReadFile(Judge("axe-core/axe.min.js"))
	if err != nil {
		without("no axe-core: make judges fetches it")
	}
	whole, err := running.enter(program)
	t.Cleanup(running.leave)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(whole, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	b := &Tab{t: t, ctx: ctx, axe: string(axe)}
	b.Do(chromedp.Navigate("about:blank"))
	// Each page believes that it is the one that the person looks at.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	return b
}

// A browser is one process of Chromium for all tests that run at the same time: to start one takes
// longer than most tests. It ends with the last of them.
type browser struct {
	mu    sync.Mutex
	tests int
	ctx   context.Context
	stop  func()
}

var running browser

// enter starts the browser for its first test.
func (b *browser) enter(program string) (context.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tests++; b.tests > 1 && b.ctx != nil {
		return b.ctx, nil
	}
	dir, err := os.MkdirTemp("", "verbatim-browser-")
	if err != nil {
		return nil, err
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.NoFirstRun, chromedp.Headless, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-prefers-reduced-motion", true), chromedp.WSURLReadTimeout(time.Minute)}
	// A page is open for a second: code that is compiled to run fast costs more than it saves.
	options = append(options, chromedp.Flag("js-flags", "--no-opt --no-maglev"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(alloc)
	b.ctx, b.stop = ctx, func() {
		_ = chromedp.Cancel(ctx) // waits for the process, so that its folder can go
		end()
		stop()
		_ = os.RemoveAll(dir)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		b.stop()
		b.ctx = nil
		return nil, err
	}
	return ctx, nil
}

// leave ends the browser after its last test.
func (b *browser) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tests--; b.tests == 0 && b.ctx != nil {
		b.stop()
		b.ctx = nil
	}
}

// Judge returns the path of a file of a package that npm fetched for tests.
func Judge(file string) string {
	dir := os.Getenv("TEST_JUDGES")
	if dir == "" {
		here, _ := os.Getwd()
		for ; filepath.Dir(here) != here; here = filepath.Dir(here) {
			if _, err := os.Stat(filepath.Join(here, "go.mod")); err == nil {
				dir = filepath.Join(here, ".cache", "judges")
				break
			}
		}
	}
	return filepath.Join(dir, "node_modules", filepath.FromSlash(file))
}

// Do takes steps, within twenty seconds.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 20*time.Second)
	defer stop()
	// The first step of a context opens the tab, which must not close with it.
	if chromedp.FromContext(b.ctx).Target == nil {
		ctx = b.ctx
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\non %s", err, b.where())
	}
}

func (b *Tab) where() string {
	ctx, stop := context.WithTimeout(b.ctx, 5*time.Second)
	defer stop()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.body ? document.body.innerText.slice(-3000) : "")`))
	return text
}

// Go opens an address. If the previous page is still loading, that is cancelled first.
func (b *Tab) Go(url string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 20*time.Second)
	defer stop()
	err := chromedp.Do(ctx, chromedp.Navigate(url))
	for err != nil && strings.Contains(err.Error(), "ERR_ABORTED") && ctx.Err() == nil {
		err = chromedp.Do(ctx, chromedp.Navigate(url))
	}
	if err != nil {
		b.t.Fatalf("%s: %v\non %s", url, err, b.where())
	}
}

// Size sets the width of the window, and the colour scheme "light" or "dark"; after "forced ", the
// system chooses the colours.
func (b *Tab) Size(width int64, look string) {
	b.t.Helper()
	b.wide, b.look = width, look
	b.Do(chromedp.EmulateViewport(width, 900))
	scheme, forced := strings.CutPrefix(look, "forced ")
	colors := map[bool]string{false: "none", true: "active"}[forced]
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "forced-colors", Value: colors}}}); err != nil {
		b.t.Fatal(err)
	}
}

// Scripts switches the scripts of pages on or off.
func (b *Tab) Scripts(on bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}); err != nil {
		b.t.Fatal(err)
	}
}

// Speaks says which language the person's browser asks for.
func (b *Tab) Speaks(language string) {
	b.t.Helper()
	headers := network.Headers{"Accept-Language": language}
	if _, err := chromedp.Call(b.ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers}); err != nil {
		b.t.Fatal(err)
	}
}

// Slow limits the network to a number of bytes a second, and clears the cache.
func (b *Tab) Slow(bytes float64) {
	b.t.Helper()
	rules := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Latency: 40, DownloadThroughput: bytes, UploadThroughput: bytes}}}
	if _, err := chromedp.Call(b.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, rules); err != nil {
		b.t.Fatal(err)
	}
}

// Forget drops all cookies, as a browser does whose login is over.
func (b *Tab) Forget() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		b.t.Fatal(err)
	}
}

// Click clicks the element that a CSS selector finds.
func (b *Tab) Click(css string) { b.t.Helper(); b.Do(chromedp.Click(chromedp.CSS(css))) }

// Type types into a field.
func (b *Tab) Type(css, text string) { b.t.Helper(); b.Do(chromedp.SendKeys(chromedp.CSS(css), text)) }

// Paste replaces the content of a field by a text from the clipboard.
func (b *Tab) Paste(css, text string) {
	b.t.Helper()
	b.Eval(fmt.Sprintf(`(() => { const from = document.body.appendChild(document.createElement("textarea")); from.id = "clipboard"; from.value = %q; from.select(); return "" })()`, text))
	edit := func(command string) {
		b.t.Helper()
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Commands: []string{command}}); err != nil {
			b.t.Fatal(err)
		}
	}
	edit("copy")
	b.Eval(fmt.Sprintf(`(() => { document.getElementById("clipboard").remove(); const to = document.querySelector(%q); to.focus(); to.select(); return "" })()`, css))
	edit("paste")
}

// Keys that are no characters, for Press.
const (
	F1     = kb.F1
	Escape = kb.Escape
)

// Press presses a key, wherever the focus is.
func (b *Tab) Press(keys string) { b.t.Helper(); b.Do(chromedp.KeyEvent(keys)) }

// File chooses files.
func (b *Tab) File(css string, names ...string) {
	b.t.Helper()
	b.Do(chromedp.SetUploadFiles(chromedp.CSS(css), names))
}

// pause is how long to wait before a page is looked at again: each look makes it lay out its text.
const pause = 100 * time.Millisecond

// Wait waits for text on the page, ten seconds long.
func (b *Tab) Wait(text string) {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(pause) {
		if strings.Contains(squeezed(b.quietly()), squeezed(text)) {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("the page does not come to say %q\n%s", text, b.where())
		}
	}
}

// quietly returns the text of the page, "" while another page is loading.
func (b *Tab) quietly() string {
	ctx, stop := context.WithTimeout(b.ctx, 5*time.Second)
	defer stop()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.readyState === "complete" && document.body ? document.body.innerText : ""`))
	return text
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// Text returns the text of the page, once it is loaded.
func (b *Tab) Text() string {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(pause) {
		if text := b.quietly(); text != "" || time.Now().After(end) {
			return text
		}
	}
}

// Until waits until a JavaScript expression is a text, ten seconds long.
func (b *Tab) Until(expression, want string) {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(pause) {
		ctx, stop := context.WithTimeout(b.ctx, 5*time.Second)
		got, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
		stop()
		if got == want {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s is %q, not %q\n%s", expression, got, want, b.where())
		}
	}
}

// Eval works out a JavaScript expression, as text.
func (b *Tab) Eval(expression string) string {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 20*time.Second)
	defer stop()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// A finding is a rule of axe that the page breaks, or keeps.
type finding struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// Audit checks the page against the rules of WCAG 2.2 AA and the good practices of axe. It also
// checks that nothing moves, that nothing is wider than the window, and that the window has the
// width that was set. Scripts of the page must be on. If TEST_SCREENSHOTS names a folder, it
// saves a picture of the page there.
func (b *Tab) Audit(name string) {
	b.t.Helper()
	b.audit(name, "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
}

// AuditAct is Audit of a state that the person's own act made, such as files that they chose: what moves
// within half a second of that act is not counted, as browsers do not count it.
func (b *Tab) AuditAct(name string) {
	b.t.Helper()
	b.acts = true
	defer func() { b.acts = false }()
	b.Audit(name)
}

// Everywhere opens an address and audits it at every width. At the narrowest and at the widest it is
// judged by all rules, and in the other colours by those about colours. At a width between them,
// where the style sheet changes nothing, it is judged by those about places. The widths follow one
// another in one page, since axe takes longer to load than to judge; what moves while a page loads
// is looked at at the narrowest and at the widest.
func (b *Tab) Everywhere(url, name string) {
	b.t.Helper()
	look, other := "dark", "light"
	for i, width := range Widths {
		b.Size(width, look)
		if i == 0 {
			b.Go(url)
		}
		b.acts = i > 0 // the wider window moves what is in it
		if width != Widths[0] && width != Widths[len(Widths)-1] {
			b.audit(name, "target-size")
			continue
		}
		b.Audit(name)
		b.Size(width, other)
		b.audit(name, "color-contrast", "link-in-text-block", "target-size")
		look, other = other, look
	}
	b.acts = false
	b.Go(url)
	b.still(name)
}

// audit judges the page by some of axe's rules, or by all with one of some tags.
func (b *Tab) audit(name string, rules ...string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	at := b.at(name)
	b.drawn()
	if there := b.Eval("typeof axe"); there != "object" {
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](b.axe+`;"axe"`)); err != nil {
			b.t.Fatalf("%s: %v", at, err)
		}
	}
	only, err := json.Marshal(rules)
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(async () => {
		const r = await axe.run(document, {runOnly: `+string(only)+`, resultTypes: ["violations"], selectors: false});
		return JSON.stringify({violations: r.violations, passes: r.passes.map(p => p.id)});
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", at, err)
	}
	var r struct {
		Violations []finding
		Passes     []string
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range r.Violations {
		b.t.Errorf("%s: %s: %s", at, v.ID, v.Help)
		for i, n := range v.Nodes {
			if i < 3 {
				b.t.Logf("    %s\n    %s", n.HTML, n.Summary)
			}
		}
	}
	if !slices.Contains(r.Passes, "target-size") {
		b.t.Errorf("%s: axe did not look at the size of targets", at)
	}
	b.still(name)
	b.Shoot(name)
}

// at says where a page is looked at.
func (b *Tab) at(name string) string { return fmt.Sprintf("%s at %d px, %s", name, b.wide, b.look) }

// drawn waits until a document on the page is drawn.
func (b *Tab) drawn() {
	b.t.Helper()
	b.Until(`!document.querySelector("[data-pdf][aria-busy=true]")`, "true")
}

// still fails where the page moved, or does not fit into the window, or the window has another width.
func (b *Tab) still(name string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	b.drawn()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](shifts+`.then(s => JSON.stringify({...s, inner: innerWidth, wide: document.documentElement.scrollWidth}))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", b.at(name), err)
	}
	var r struct {
		Shift       float64
		Asked       float64 // the part of Shift within half a second of an act
		Moved       []string
		Inner, Wide int64
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		b.t.Fatal(err)
	}
	if b.acts || os.Getenv("TEST_SCREENSHOTS") != "" { // a picture of the whole page moves it for a moment
		r.Shift -= r.Asked
	}
	switch {
	case r.Inner != b.wide:
		b.t.Errorf("%s: the window is %d px wide", b.at(name), r.Inner)
	case r.Wide > r.Inner:
		b.t.Errorf("%s: the page is %d px wide and scrolls sideways", b.at(name), r.Wide)
	case r.Shift > 0.02:
		b.t.Errorf("%s: the layout shifts by %.3f:\n%s", b.at(name), r.Shift, strings.Join(r.Moved, "\n"))
	}
}

// shifts returns the layout shifts since the page was opened. It waits until the last change is
// painted, which takes a while on a busy machine.
const shifts = `new Promise(done => {
	let shift = 0, asked = 0;
	const moved = [];
	const note = all => { for (const e of all) { shift += e.value; if (e.hadRecentInput) asked += e.value; for (const s of e.sources) moved.push([e.value, "at", e.startTime, e.hadRecentInput ? "after input" : "unasked", s.previousRect.x, s.previousRect.y, s.currentRect.x, s.currentRect.y, s.node?.outerHTML?.slice(0, 90) ?? ""].join(" ")); } };
	const watch = new PerformanceObserver(l => note(l.getEntries()));
	watch.observe({type: "layout-shift", buffered: true});
	requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { note(watch.takeRecords()); done({shift, asked, moved}); }, 50)));
})`

// Shift returns the amount by which the layout of the page shifted since it was opened.
func (b *Tab) Shift() float64 {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 20*time.Second)
	defer stop()
	shift, err := chromedp.Run(ctx, chromedp.Evaluate[float64](shifts+`.then(s => s.shift)`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return shift
}

// Fail fails the test and continues it.
func (b *Tab) Fail(why string) { b.t.Helper(); b.t.Error(why) }

// Print prints a page of HTML, A4, as a PDF.
func (b *Tab) Print(html string) []byte {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, page.SetDocumentContent, page.SetDocumentContentParams{FrameID: tree.FrameTree.Frame.ID, HTML: html}); err != nil {
		b.t.Fatal(err)
	}
	printed, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
	if err != nil {
		b.t.Fatal(err)
	}
	return printed.Data
}

// Shoot takes a picture of the whole page, if TEST_SCREENSHOTS names a folder.
func (b *Tab) Shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	yes := true
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &yes})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, b.wide, b.look)), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
