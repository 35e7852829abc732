package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// snippet is one of docs/operators.md.
type snippet struct{ language, text string }

// deployment is a machine in a folder, to which the page for operators is applied.
type deployment struct {
	t        *testing.T
	dir      string
	address  string // of the server
	snippets []snippet
	files    map[string]string // of operatorsFiles
	env      []string
	server   *exec.Cmd
	said     bytes.Buffer
}

var operatorsFolder = filepath.Join("..", "..", "docs", "operators")

// operatorsFiles are files beside the page.
var operatorsFiles = map[string]string{
	"collocate.service": "ini", "collocate-docs.service": "ini", "alerts.yml": "yaml",
}

func newDeployment(t *testing.T) *deployment {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operators.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{t: t, dir: t.TempDir(), files: map[string]string{}}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		d.snippets = append(d.snippets, snippet{m[1], m[2]})
	}
	for name, language := range operatorsFiles {
		text, err := os.ReadFile(filepath.Join(operatorsFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "(operators/"+name+")") {
			t.Errorf("the page does not name %s", name)
		}
		d.files[name] = string(text)
		if language == "yaml" {
			d.snippets = append(d.snippets, snippet{language, string(text)})
		}
	}
	for _, name := range []string{"srv/docs", "var/log", "var/backups", "etc/prometheus", "usr/local/bin"} {
		must(os.MkdirAll(filepath.Join(d.dir, name), 0o755))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	must(os.Symlink(self, filepath.Join(d.dir, "usr/local/bin/collocate"))) // see TestMain
	must(os.WriteFile(filepath.Join(d.dir, "srv/docs/start.md"), []byte("# Start\n\nHow to install it.\n"), 0o644))
	d.env = append(os.Environ(), "PATH="+filepath.Join(d.dir, "usr/local/bin")+":"+os.Getenv("PATH"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.address = l.Addr().String()
	must(l.Close())
	return d
}

// here returns a snippet with the paths and the address of this deployment, and nobody's files.
func (d *deployment) here(text string) string {
	text = regexp.MustCompile(`(^|[\s:"@>])(/(srv|var|etc|usr/local)/)`).ReplaceAllString(text, "${1}"+d.dir+"$2")
	text = strings.NewReplacer("-o collocate -g collocate ", "", "-g collocate ", "", "127.0.0.1:8080", d.address).Replace(text)
	return regexp.MustCompile(`(?m)^(useradd|chown|chgrp) .*$`).ReplaceAllString(text, ":")
}

func (d *deployment) of(language string) (list []string) {
	for _, s := range d.snippets {
		if s.language == language {
			list = append(list, s.text)
		}
	}
	return list
}

// execStart returns the arguments of the program that a unit starts.
func (d *deployment) execStart(unit string) []string {
	d.t.Helper()
	for line := range strings.Lines(unit) {
		if command, ok := strings.CutPrefix(line, "ExecStart=/usr/local/bin/collocate "); ok {
			return strings.Fields(command)
		}
	}
	d.t.Fatalf("no ExecStart in\n%s", unit)
	return nil
}

func (d *deployment) shell(text string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "sh", "-euc", d.here(text))
	cmd.Env, cmd.Dir = d.env, d.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s\n%v: %s\nserver: %s", d.here(text), err, out, d.said.Bytes())
	}
	return string(out)
}

// get asks the server, with the token of a name.
func (d *deployment) get(method, path, name string) (int, string) {
	d.t.Helper()
	file, err := os.ReadFile(filepath.Join(d.dir, "etc/collocate/tokens"))
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.address+path, strings.NewReader("{}"))
	if err != nil {
		d.t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if part := strings.Fields(line); part[2] == name {
			r.Header.Set("Authorization", "Bearer "+part[1])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// The page for operators holds: its snippets are run one after the other, with paths below a
// temporary folder.
func TestOperatorsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("TestOperatorsUnits is the small case")
	}
	for _, needed := range []string{"sh", "curl", "awk", "base64"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("needs %s", needed)
		}
	}
	d := newDeployment(t)
	shell := d.of("sh")
	if len(shell) != 6 {
		t.Fatalf("%d shell snippets, want 6", len(shell))
	}
	d.shell(shell[0])
	d.shell(shell[1])
	args := d.execStart(d.files["collocate.service"])
	for i := range args {
		args[i] = strings.TrimSpace(d.here(" " + args[i]))
	}
	for i := range args {
		if args[i] == "10s" { // of --drain
			args[i] = "100ms"
		}
	}
	d.server = exec.Command(filepath.Join(d.dir, "usr/local/bin/collocate"), append(args, "--addr", d.address)...)
	d.server.Env, d.server.Stderr = d.env, &d.said
	must(d.server.Start())
	ended := make(chan error, 1)
	go func() { ended <- d.server.Wait() }()
	defer func() {
		must(d.server.Process.Signal(os.Interrupt))
		if err := <-ended; err != nil {
			t.Errorf("the server: %v: %s", err, d.said.Bytes())
		}
	}()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", d.address)
		if err == nil {
			c.Close()
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("no server: %v: %s", err, d.said.Bytes())
		}
	}
	if out := d.shell(shell[2]); !strings.Contains(out, `"id":"start.md#1"`) {
		t.Errorf("is it up? %s", out)
	}

	// Roles, and a token that is removed.
	if status, _ := d.get(http.MethodGet, "/v1/search?q=install", "nobody"); status != http.StatusUnauthorized {
		t.Errorf("without a token: status %d", status)
	}
	if status, said := d.get(http.MethodPost, "/v1/jobs", "nobody"); status != http.StatusUnauthorized {
		t.Errorf("a job without a token: status %d, %s", status, said)
	}
	tokens := filepath.Join(d.dir, "etc/collocate/tokens")
	file, err := os.ReadFile(tokens)
	if err != nil {
		t.Fatal(err)
	}
	web, rest, _ := strings.Cut(string(file), "\n")
	old := strings.Fields(web)[1]
	must(os.WriteFile(tokens, []byte("read new web\n"+rest), 0o640))
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if status, _ := d.get(http.MethodGet, "/v1/search?q=install", "web"); status == http.StatusOK {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the new token is not taken: %s", d.said.Bytes())
		}
	}
	d.env = append(d.env, "OLD="+old)
	if out := d.shell(`curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $OLD" 'http://127.0.0.1:8080/v1/search?q=a'`); out != "401" {
		t.Errorf("the old token: status %s", out)
	}

	// The log has the name of the token, and what rotates it names it.
	logged, err := os.ReadFile(filepath.Join(d.dir, "var/log/collocate/access.log"))
	if err != nil || !bytes.Contains(logged, []byte(`"web"`)) {
		t.Errorf("access log: %v\n%s", err, logged)
	}

	// All that is shown and warned of is measured.
	_, measured := d.get(http.MethodGet, "/metrics", "web")
	shown, err := os.ReadFile(filepath.Join("..", "..", "docs", "dashboard.json"))
	if err != nil || !json.Valid(shown) {
		t.Fatal("dashboard.json:", err)
	}
	names := regexp.MustCompile(`\b(collocate|process)_[a-z_]+\b`).FindAllString(string(shown)+strings.Join(d.of("yaml"), ""), -1)
	if len(names) < 10 {
		t.Errorf("%d metrics", len(names))
	}
	for _, name := range names {
		if !strings.Contains(measured, "\n"+name+"{") && !strings.Contains(measured, "\n"+name+" ") {
			t.Errorf("the server has no metric %s", name)
		}
	}

	// Backup, restore, upgrade, while the server runs.
	must(os.WriteFile(filepath.Join(d.dir, "srv/docs/late.md"), []byte("later"), 0o644))
	for _, text := range shell[3:] {
		d.shell(text)
	}
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, found := d.get(http.MethodGet, "/v1/search?q=later", "web"); strings.Contains(found, `"late.md#1"`) {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("what came after the backup is not found: %s", d.said.Bytes())
		}
	}

	// The line of cron is a run like any other.
	line := strings.Fields(d.of("cron")[0])
	if line[5] != "collocate" || len(line) < 8 {
		t.Fatalf("%q", line)
	}
	d.shell(strings.Join(line[6:], " "))
	d.proxied()
	d.rotated()
}

// proxied asks through nginx, where it is installed.
func (d *deployment) proxied() {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		d.t.Log("nginx is not installed: its snippet is not run")
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	front := l.Addr().String()
	must(l.Close())
	conf := regexp.MustCompile(`(?m)^ *ssl_.*\n`).ReplaceAllString(d.here(d.of("nginx")[0]), "")
	conf = strings.Replace(conf, "listen 443 ssl;", "listen "+front+";", 1)
	conf = fmt.Sprintf("daemon off;\nmaster_process off;\npid %[1]s/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+
		"client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;\n%s}\n", d.dir, conf)
	file := filepath.Join(d.dir, "nginx.conf")
	must(os.WriteFile(file, []byte(conf), 0o644))
	var said bytes.Buffer
	cmd := exec.Command(nginx, "-c", file, "-e", "stderr")
	cmd.Stderr = &said
	must(cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for _, x := range []struct{ path, want string }{
		{"/search/", "<html"}, {"/search/v1/search?q=install", `"start.md#1"`}, {"/search/readyz", "ready"},
	} {
		out := ""
		for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
			r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+front+x.path, nil)
			must(err)
			r.Host = "docs.example.org"
			r.Header.Set("Authorization", "Bearer new")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				continue
			}
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			must(err)
			out = string(body)
			break
		}
		if !strings.Contains(out, x.want) {
			d.t.Errorf("%s through nginx: %.200q, want %s; %s", x.path, out, x.want, said.Bytes())
		}
	}
}

// rotated turns the log over, where logrotate is installed: the server goes on writing.
func (d *deployment) rotated() {
	logrotate, err := exec.LookPath("logrotate")
	if err != nil {
		d.t.Log("logrotate is not installed: its snippet is not run")
		return
	}
	conf := filepath.Join(d.dir, "logrotate.conf")
	must(os.WriteFile(conf, []byte(d.here(d.of("logrotate")[0])), 0o644))
	out, err := exec.Command(logrotate, "--force", "--state", filepath.Join(d.dir, "state"), conf).CombinedOutput()
	if err != nil {
		d.t.Errorf("logrotate: %v: %s", err, out)
	}
	d.get(http.MethodGet, "/v1/documents/rotated", "web")
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		log, err := os.ReadFile(filepath.Join(d.dir, "var/log/collocate/access.log"))
		must(err)
		if bytes.Contains(log, []byte("rotated")) {
			if len(log) > 0 && log[0] != '{' {
				d.t.Errorf("the log begins with %.20q", log)
			}
			return
		}
		if time.Since(begun) > 20*time.Second {
			d.t.Fatalf("after logrotate the log has %s", log)
		}
	}
}

// The units, the line of cron and the files for Prometheus are well formed, and call verbs with
// flags that exist.
func TestOperatorsUnits(t *testing.T) {
	d := newDeployment(t)
	commands := [][]string{}
	for _, name := range []string{"collocate.service", "collocate-docs.service"} {
		unit := d.files[name]
		commands = append(commands, d.execStart(unit))
		for line := range strings.Lines(unit) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '[' && !regexp.MustCompile(`^[A-Z][A-Za-z]+=\S`).MatchString(line) {
				t.Errorf("a line of a unit is %q", line)
			}
		}
	}
	for _, line := range d.of("cron") {
		commands = append(commands, strings.Fields(line)[7:])
	}
	if len(commands) != 3 {
		t.Errorf("%d commands", len(commands))
	}
	for _, args := range commands {
		cmd, rest, err := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)).Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil || !cmd.HasParent() {
			t.Errorf("%q: %v", args, err)
		}
	}
	for _, text := range d.of("yaml") {
		var any map[string]any
		if err := yaml.Unmarshal([]byte(text), &any); err != nil || len(any) != 1 {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	if len(d.snippets) != 11 {
		t.Errorf("%d snippets: want 11, each of which is run here or in TestOperatorsPage", len(d.snippets))
	}
}

// The files for operators pass the checks of the programs that read them, where they are installed.
func TestOperatorsFiles(t *testing.T) {
	d := newDeployment(t)
	check := func(name string, args ...string) {
		t.Helper()
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed", name)
			return
		}
		// Of units, that the program is not installed on this machine is no mistake.
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		if err != nil || strings.Contains(string(out), "ignoring") {
			t.Errorf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	for name, text := range d.files {
		if strings.HasSuffix(name, ".service") {
			file := filepath.Join(d.dir, name)
			must(os.WriteFile(file, []byte(d.here(strings.ReplaceAll(text, "=/usr", "= /usr"))), 0o644))
			check("systemd-analyze", "verify", "--man=no", file)
		}
	}
	check("promtool", "check", "rules", filepath.Join(operatorsFolder, "alerts.yml"))
}
