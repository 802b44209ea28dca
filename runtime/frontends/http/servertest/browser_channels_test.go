package servertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
	"verbatim/runtime/tests/browsertest"
)

// newWriting is a house of projects that people write to by WhatsApp, with the WhatsApp.
func newWriting(t *testing.T) (*house, *cloudtest.Server) {
	t.Helper()
	const example, number = root + "/examples/kiisha", "106540352242922"
	cloud := cloudtest.New(cloudtest.Options{Token: "token", Secret: "secret", Verify: "verify", Number: number})
	api := httptest.NewServer(cloud)
	t.Cleanup(api.Close)
	h := &house{t: t, dir: t.TempDir(), people: []string{"tia", "ruth"}}
	write := func(name string, content []byte) string {
		t.Helper()
		name = filepath.Join(h.dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	config, err := json.Marshal(map[string]any{"private": true, "whatsapp": map[string]any{"api": api.URL + "/v23.0", "numbers": []string{number}, "token-env": "WA_TOKEN", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY"}})
	if err != nil {
		t.Fatal(err)
	}
	h.env = []string{"VERBATIM_PALETTES=kiisha", "VERBATIM_FILES=" + filepath.Join(h.dir, "files")}
	h.run("migrate")
	h.run("migrate", "--data", example+"/organisations.sql", "--administrator", "ada", "--administrator", "bo")
	h.run("run", "--as", "ada", "--yes", example+"/people.dsl")
	h.run("run", "--as", "ada", "--yes", write("more.dsl", []byte("system.add-principal :name \"channels\"\nsystem.add-principal :name \"tia\" :label \"Tia Berg\"\n")))
	_ = h.command("run", "--as", "ada", "--yes", example+"/channels.dsl").Run() // waits for the other administrator
	for line := range strings.Lines(h.run("confirm", "--as", "bo")) {
		h.run("confirm", strings.Fields(line)[0], "--agree", "--as", "bo")
	}
	reference := regexp.MustCompile(`upload://\S+`).FindString(h.run("upload", "--as", "nadia", example+"/files/UMZA grid permit.txt"))
	h.run("run", "--as", "nadia", write("file.dsl", []byte(`kiisha.upload-document :file "`+reference+"\"\n")))
	h.env = append(h.env, "VERBATIM_CHANNELS="+write("channels.json", config), "WA_TOKEN=token", "WA_SECRET=secret", "WA_VERIFY=verify")
	h.open()
	cloud.Webhook(h.url("/channels/whatsapp"))
	return h, cloud
}

// K41, U35, ux.md 2e: who looks after strangers sees on a page that somebody wrote, opens what
// they said, and says whose it is; a manager agrees to where a file belongs.
func TestBrowserWhoWrote(t *testing.T) {
	t.Parallel()
	tab := browsertest.Open(t)
	h, cloud := newWriting(t)
	if _, status, err := cloud.Say(t.Context(), "4915799999", cloudtest.Text("How is <b>UMZA-1</b> going?")); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	answers := func(want int) []cloudtest.Sent {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); len(cloud.Sent()) < want && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		all := cloud.Sent()
		if len(all) != want {
			t.Fatalf("%d answers, not %d: %+v", len(all), want, all)
		}
		return all
	}
	answers(1)

	tab.Size(1280, "light")
	h.signIn(tab, "tia")
	tab.Wait("4915799999")
	everywhere(tab, "strangers")
	if text := tab.Text(); strings.Contains(text, "UMZA") {
		t.Errorf("words are shown that nobody opened:\n%s", text)
	}
	follow(tab, "main", "4915799999")
	tab.Wait("Say whose it is")
	everywhere(tab, "stranger")
	tab.Click(`main button[name="show"]`)
	tab.Wait("How is <b>UMZA-1</b> going?")
	tab.Audit("stranger-opened")
	follow(tab, "main", "Say whose it is")
	tab.Wait("4915799999")
	tab.Audit("stranger-claim")
	tab.Type("#principal-id", "nadia")
	tab.Click("main form .btn")
	tab.Wait("the rights of this person")
	tab.Audit("stranger-question")
	tab.Click(`main form button[name="yes"]`)
	if last := answers(2)[1]; last.To != "4915799999" || !strings.Contains(last.Text, "UMZA-1") {
		t.Errorf("%+v", last)
	}
	if text := tab.Text(); regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4|upload://|wamid`).MatchString(text) {
		t.Errorf("the page shows a key:\n%s", text)
	}

	tab.Forget()
	h.signIn(tab, "ruth")
	tab.Wait("Files without a place")
	tab.Wait("UMZA grid permit.txt")
	everywhere(tab, "unlinked")
	follow(tab, "main", "UMZA grid permit.txt")
	tab.Wait("The suggestion is right")
	tab.Audit("unlinked-file")
}
