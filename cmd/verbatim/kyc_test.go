package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs/palettes"
)

// The demonstration of the agent that verifies people, as its README says: a bank's agent and
// ours talk over HTTP, each transcript is the file beside it, and nothing that is stored was
// told, on both stores, and the bank shows challenges to its clerk (H1 to H20, H24 to H34).
// On PostgreSQL our server runs where no file can be written (H32).
func TestVerificationsAreDemonstrated(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	play := func(t *testing.T, env ...string) {
		t.Helper()
		bin := t.TempDir()
		if err := putProgram(bin); err != nil {
			t.Fatal(err)
		}
		demo := exec.Command("bash", filepath.Join(root, "examples", "kyc", "demo.sh"))
		demo.Env = append(append(os.Environ(), "PROGRAM_DIR="+bin), env...)
		out, err := demo.CombinedOutput()
		if err != nil || strings.Count(string(out), "\nok ") != 9 || !strings.Contains(string(out), "nothing that is stored was told") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Run("the bank's own test", func(t *testing.T) {
		t.Parallel()
		if out, err := exec.Command("go", "-C", filepath.Join(root, "examples", "kyc", "bank"), "test", "./...").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		play(t, "TICK=now")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		env := []string{"KYC_OWNER=" + db.Owner, "KYC_STORE=" + db.App, "TICK=now"}
		within, err := filepath.Abs("testdata/read-only.sh")
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("bash", within, "true").Run(); err == nil {
			env = append(env, "KYC_WITHIN=bash "+within)
		} else {
			t.Logf("this system lets nobody mount anew, so the server may write files: %v", err)
		}
		play(t, env...)
	})
}

// So is the page of its README.
func TestVerificationsReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = os.CopyFS(s.dir, os.DirFS("../../examples/kyc"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := s.page(t, "examples/kyc/README.md", "verbs/palettes/kyc/kyc.yaml", "")
	s.with(t, p, "VERBATIM_PALETTES=kyc").play(t)
}

// BenchmarkVerifications is how many people a server verifies over HTTP, asked by eight agents
// at once; the palette's own limits are lifted for it.
func BenchmarkVerifications(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			if err := putProgram(dir); err != nil {
				b.Fatal(err)
			}
			if err := os.CopyFS(dir, os.DirFS("../../examples/kyc")); err != nil {
				b.Fatal(err)
			}
			text := regexp.MustCompile(`(?m)^    limits:\n(      - .*\n)+`).ReplaceAllString(palettes.Text("kyc/kyc.yaml"), "")
			err := os.Mkdir(filepath.Join(dir, "verbs"), 0o700)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "verbs", "kyc.yaml"), []byte(text), 0o600)
			}
			if err != nil {
				b.Fatal(err)
			}
			env := append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
			owner, app, grant := "verbatim.db", "verbatim.db", ""
			if kind == "postgres" {
				db := pgtest.Database(b)
				owner, app, grant = db.Owner, db.App, "--grant-to verbatim_app"
			}
			script := fmt.Sprintf(`set -e
verbatim migrate --store %[1]q %[3]s >log; verbatim migrate --store %[1]q %[3]s --data people.sql >>log
export VERBATIM_STORE=%[2]q
verbatim migrate --administrator ada --administrator bo >>log; verbatim run --as ada --yes agents.dsl >>log
verbatim serve --listen 127.0.0.1:0 --log off >serving 2>>log </dev/null & echo $! >pid
for _ in $(seq 100); do grep -q http serving && break; sleep 0.1; done
verbatim serve token bank --as ada --for northbank --url "$(grep -o 'http://[^ ]*' serving | head -n 1)" --yes >token 2>>log || true
for id in $(verbatim confirm --as bo | cut -f 1); do verbatim confirm "$id" --agree --as bo >>log; done
`, owner, app, grant)
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir, cmd.Env = dir, env
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v %s", err, out)
			}
			defer func() {
				stop := exec.Command("bash", "-c", "kill $(cat pid)")
				stop.Dir = dir
				_ = stop.Run()
			}()
			read := func(name, pattern string) string {
				text, _ := os.ReadFile(filepath.Join(dir, name))
				return string(regexp.MustCompile(pattern).Find(text))
			}
			url, token := read("serving", `http://\S+`), read("token", `(?m)^[A-Za-z0-9_-]{40,}$`)
			var n atomic.Int64
			b.SetParallelism(4) // on two processors
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					body := fmt.Sprintf(`{"protocol":"A2A/1.0","type":"TASK_INIT","id":"b%d","payload":{"userName":"Jon Smith","phone":"5550123"}}`, n.Add(1))
					r, err := http.NewRequest("POST", url+"/kyc", strings.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
					answer, err := http.DefaultClient.Do(r)
					if err != nil {
						b.Error(err)
						return
					}
					told, _ := io.ReadAll(answer.Body)
					answer.Body.Close()
					if !bytes.Contains(told, []byte(`"VERIFIED"`)) {
						b.Errorf("%s", told)
						return
					}
				}
			})
			b.ReportMetric(float64(n.Load())/b.Elapsed().Seconds(), "verified/s")
		})
	}
}
