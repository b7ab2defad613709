//go:build browser

package study

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browser runs headless Chromium, which the tests with the tag browser need, and
// returns its output and its log.
func browser(t *testing.T, args ...string) (printed, logged []byte) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("the tests with the tag browser need chromium on the PATH (Debian: apt-get install chromium): %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	common := []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage",
		"--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}
	if os.Getuid() == 0 {
		common = append(common, "--no-sandbox")
	}
	cmd := exec.CommandContext(ctx, path, append(common, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err = cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	return printed, stderr.Bytes()
}

// probe loads the report in frames of several widths and lists the faults of each.
// Parts that scroll by themselves may be wider than the page.
const probe = `<!DOCTYPE html><title>probe</title><body><pre id="found"></pre><script>
const widths = [390, 768, 1280], found = [], pending = [];

// exercise sorts the tables by each column, both ways, and exports the drawings.
async function exercise(w, d, tell) {
  if (!w.numberOf) return tell('nothing sorts or saves');
  for (const table of d.querySelectorAll('table')) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
    for (const head of table.tHead.rows[0].cells) {
      for (const way of ['ascending', 'descending']) {
        const before = table.tBodies[0].textContent.length;
        head.querySelector('button').click();
        if (head.getAttribute('aria-sort') !== way) tell('a click on ' + head.textContent + ' sorts ' + head.getAttribute('aria-sort'));
        if (table.tBodies[0].textContent.length !== before) tell('sorting changes the table');
        const values = [...table.tBodies[0].rows].map((r) => w.numberOf(r.cells[head.cellIndex].textContent)).filter((v) => v !== null);
        const sign = way === 'ascending' ? 1 : -1;
        if (values.some((v, i) => i > 0 && sign * (v - values[i - 1]) < 0)) tell('not ' + way + ' by ' + head.textContent + ': ' + values);
      }
    }
    if (w.numberOf('1\u202f024') !== 1024 || w.numberOf('2 us') <= w.numberOf('300 ns') || w.numberOf('1.5 KiB') !== 1536) tell('numbers are misread');
  }
  for (const figure of d.querySelectorAll('figure')) {
    if (!figure.querySelector(':scope > svg')) continue;
    const title = figure.querySelector('figcaption').textContent;
    if (figure.querySelectorAll('.export button').length !== 2) tell(title + ' has no buttons to save it');
    const file = new w.DOMParser().parseFromString(w.svgOf(figure), 'image/svg+xml');
    if (file.querySelector('parsererror')) tell(title + ' is saved as no SVG');
    const texts = [...file.querySelectorAll('text')].map((e) => e.textContent);
    for (const entry of figure.querySelectorAll('.legend li')) if (!texts.includes(entry.textContent.trim())) tell(title + ' is saved without ' + entry.textContent);
    if (!texts.includes(title)) tell('saved without its title ' + title);
    const lines = [...file.querySelectorAll('path[d]')];
    if (lines.length > 0 && !lines.some((e) => (e.style.stroke + e.style.fill).includes('rgb'))) tell(title + ' is saved without colours');
  }
  const first = d.querySelector('figure > svg');
  if (first) {
    const url = await w.pngOf(first.closest('figure'));
    const file = w.atob(url.replace('data:image/png;base64,', ''));
    const width = 256 * file.charCodeAt(18) + file.charCodeAt(19);
    if (width !== 3 * 440 || file.length < 5000) tell('a PNG of ' + width + ' px and ' + file.length + ' bytes');
  }
}
let left = widths.length;
for (const width of widths) {
  const frame = document.createElement('iframe');
  frame.style = 'border:0;height:900px;width:' + width + 'px';
  frame.onload = () => {
    const w = frame.contentWindow, d = w.document, root = d.documentElement;
    const tell = (what) => found.push(width + ' px: ' + what);
    if (root.scrollWidth > root.clientWidth) tell('the page is ' + root.scrollWidth + ' px wide');
    for (const e of d.body.querySelectorAll('*')) {
      const box = e.getBoundingClientRect();
      if (box.right > width + 0.5 && !e.closest('.scroll, pre')) tell('<' + e.tagName + '> reaches to ' + box.right);
    }
    const drawings = d.querySelectorAll('figure > svg');
    for (const svg of drawings) {
      const box = svg.getBoundingClientRect();
      if (box.width < 250 || box.height < 15) tell('a drawing of ' + box.width + ' by ' + box.height);
      if (svg.querySelectorAll('.line, .bar').length === 0) tell('a drawing without a curve');
      const texts = [...svg.querySelectorAll('text')].map((e) => [e.textContent, e.getBoundingClientRect()]);
      for (const [text, a] of texts) {
        if (a.height < 9) tell('"' + text + '" is ' + a.height + ' px high');
        if (a.left < box.left - 0.5 || a.right > box.right + 0.5 || a.top < box.top - 0.5 || a.bottom > box.bottom + 0.5)
          tell('"' + text + '" is cut off');
        for (const [other, b] of texts)
          if (a !== b && a.left < b.right && b.left < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom)
            tell('"' + text + '" lies on "' + other + '"');
      }
    }
    for (const e of d.querySelectorAll('[src], link[href]')) {
      const to = e.getAttribute('src') || e.getAttribute('href');
      if (!to.startsWith('data:')) tell('needs ' + to);
    }
    if (w.performance.getEntriesByType('resource').length > 0) tell('loads something');
    if (width === 1280) pending.push(exercise(w, d, tell).catch((e) => tell(String(e))));
    found.push(width + ' ok: ' + drawings.length + ' drawings, background ' + w.getComputedStyle(d.body).backgroundColor);
    if (--left === 0) Promise.all(pending).then(() => {
      document.getElementById('found').textContent = JSON.stringify(found);
    });
  };
  frame.src = '/report.html';
  document.body.append(frame);
}
</script>`

var foundText = regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`)

// serve serves a report and the probe.
func serve(t *testing.T, report []byte) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		text := []byte(probe)
		if r.URL.Path == "/report.html" {
			text = report
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// probed returns the faults that the probe has found in a colour scheme: 0 is dark, 1
// light.
func probed(t *testing.T, url string, scheme int) []string {
	dom, logged := browser(t, "--window-size=1400,1000", fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme),
		"--virtual-time-budget=20000", "--dump-dom", url+"/")
	for line := range strings.Lines(string(logged)) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the console says: %s", line)
		}
	}
	match := foundText.FindSubmatch(dom)
	var found []string
	if match == nil {
		t.Fatalf("no probe in %s", dom)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(match[1]))), &found); err != nil {
		t.Fatalf("%v in %s", err, match[1])
	}
	return found
}

// On a phone, a tablet and a desk, light and dark, nothing is wider than the page, and
// no label is cut off, too small or on another. Nothing is loaded from elsewhere, and
// the console is empty.
func TestReportInBrowser(t *testing.T) {
	for name, report := range map[string][]byte{
		"full":    reportOf(t, fullPlan(t), runFull(t)),
		"barrier": reportOf(t, barrierPlan(t), runAll(t, barrierPlan(t))),
		"scaling": scalingReport(t),
		"run":     runReport(t, runOf(700)),
		"few":     runReport(t, runOf(4)),
	} {
		url := serve(t, report)
		backgrounds := map[int]string{}
		for scheme := range 2 {
			drawings := 0
			for _, line := range probed(t, url, scheme) {
				width, rest, ok := strings.Cut(line, " ok: ")
				if !ok {
					t.Errorf("%s, scheme %d: %s", name, scheme, line)
					continue
				}
				drawings++
				if strings.HasPrefix(rest, "0 drawings") {
					t.Errorf("%s, %s px: nothing is drawn", name, width)
				}
				_, backgrounds[scheme], _ = strings.Cut(rest, "background ")
			}
			if drawings != 3 {
				t.Errorf("%s, scheme %d: %d widths were looked at, want 3", name, scheme, drawings)
			}
		}
		if backgrounds[0] == backgrounds[1] {
			t.Errorf("%s: dark and light have the same background %s", name, backgrounds[0])
		}
	}
}

func scalingReport(t *testing.T) []byte {
	s := fullScaling(t)
	var page bytes.Buffer
	if err := s.WriteReport(&page, scalingRecords(s), testOrigin); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// The probe finds the faults that it looks for.
func TestProbeFindsFaults(t *testing.T) {
	bad := `<!DOCTYPE html><body><img src="/x.png"><div style="width:2000px">wide</div>
<figure><svg viewBox="0 0 440 300" width="400"><text x="430" y="20">cut off</text><text x="10" y="50">one</text><text x="12" y="52">two</text></svg></figure>`
	found := strings.Join(probed(t, serve(t, []byte(bad)), 1), "\n")
	for _, want := range []string{"px wide", "reaches to", `"cut off" is cut off`, `"one" lies on "two"`, "a drawing without a curve", "needs /x.png", "loads something", "nothing sorts or saves"} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in\n%s", want, found)
		}
	}
}

// Screenshots and a print can be made. GIGARANK_SCREENSHOTS names a directory that
// keeps them for people to look at.
func TestReportIsDrawn(t *testing.T) {
	dir := os.Getenv("GIGARANK_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	url := serve(t, reportOf(t, fullPlan(t), runFull(t))) + "/report.html"
	sizes := map[string]int64{}
	for _, c := range []struct {
		name, window string
		scheme       int
	}{{"light.png", "1280,4000", 1}, {"dark.png", "1280,4000", 0}, {"narrow.png", "500,6000", 1}} {
		path := filepath.Join(dir, c.name)
		browser(t, "--window-size="+c.window, fmt.Sprintf("--blink-settings=preferredColorScheme=%d", c.scheme), "--screenshot="+path, url)
		sizes[c.name] = fileSize(t, path)
	}
	for name, size := range sizes {
		if size < 50_000 { // a blank page of that size is a tenth of it
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	pdf := filepath.Join(dir, "print.pdf")
	browser(t, "--print-to-pdf="+pdf, "--no-pdf-header-footer", url)
	text, err := os.ReadFile(pdf)
	if err != nil || !bytes.HasPrefix(text, []byte("%PDF-")) {
		t.Fatalf("print: %v", err)
	}
	if pages := bytes.Count(text, []byte("/Type /Page\n")); pages < 2 {
		t.Errorf("print has %d pages", pages)
	}
}

func fileSize(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
