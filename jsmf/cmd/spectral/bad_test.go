package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
)

// What a newcomer gets wrong: each is one line on stderr that says what to do, and nothing on stdout.
// {name} is a file that the test makes.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, b string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var table, jsonl, same, docs strings.Builder
	table.WriteString("id,day,kind,text\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		of := strings.Fields([]string{"apple pear plum quince fig grape lemon cherry", "oak ash elm beech pine fir larch yew", "cat dog cow hen pig goat horse sheep"}[i%3])
		words := ""
		for range 24 {
			words += of[rng.IntN(8)] + " "
		}
		fmt.Fprintf(&table, "%d,2020-01-%02d,k%d,%s\n", i, 1+i%28, i%2, words)
		fmt.Fprintf(&jsonl, `{"id": %d, "text": %q}`+"\n", i, words)
		same.WriteString("the same text each and every time\n")
		fmt.Fprintf(&docs, "text %d is about %s\n", i, words)
	}
	good := table.String()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(good)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	file("good.csv", good)
	file("good.jsonl", jsonl.String())
	file("empty.csv", "")
	file("blank.txt", "  \n\n \n")
	file("header.csv", "id,text\n")
	file("one.csv", "text\na single text is all there is\n")
	file("same.txt", same.String())
	file("picture.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	file("paper.pdf", "%PDF-1.4 and so on")
	file("program", "\x7fELF\x02\x01\x01\x00\x00\x00")
	file("latin.csv", good+"60,2020-01-01,k1,caf\xe9 cr\xe8me\n")
	file("quote.csv", good+"60,2020-01-01,k1,\"open to the end\n")
	file("fields.csv", good+"60,2020-01-01\n")
	file("twice.csv", good+"0,2020-01-01,k1,apple pear\n")
	file("twins.csv", strings.Replace(good, "kind", "text", 1))
	file("numbers.csv", "a,b\n1,2\n3,4\n5,6\n")
	file("baddate.csv", strings.Replace(good, "2020-01-05", "5 January", 1))
	file("cut.gz", packed.String()[:packed.Len()/2])
	file("no.gz", "no gzip")
	file("cut.jsonl", jsonl.String()+`{"id": 99, "text": "apple`)
	file("array.json", `[{"text": "a"}, {"text": "b"}]`)
	file("nofield.jsonl", `{"a": 1}`+"\n"+`{"a": 2}`+"\n")
	file("mixed.jsonl", jsonl.String()+`{"id": 99}`+"\n")
	file("broken.parquet", "PAR1 and no more")
	file("broken.zst", "\x28\xb5\x2f\xfd no more")
	file("docword.x.txt", "2\n2\n2\n1 1 1\n2 2 1\n")
	file("seeds.txt", "no colon here\n")
	file("noseeds.txt", "\n")
	file("edits.json", "{")
	file("model.jsmf", "\x89JSMF\r\n\x1a cut")
	file("set.txt", "k is five\n")
	file("set2.txt", "speed = 9\n")
	file("folder/a.bin", "\x00\x01")
	file("docs/a.txt", docs.String())
	file("no", "")
	if err := os.MkdirAll(filepath.Join(dir, "bare"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"", "Usage", 2},
		{"topic {good.csv}", `there is no command "topic"`, 2},
		{"{good.csv}", "say what to do with", 2},
		{"topics", "want SOURCE, as in: spectral topics texts.csv", 2},
		{"show", "want MODEL", 2},
		{"apply {model.jsmf}", "want MODEL SOURCE", 2},
		{"topics {good.csv} {good.jsonl}", "unexpected argument", 2},
		{"topics {good.csv} -nonsense", "not defined: -nonsense", 2},
		{"topics {good.csv} -k", "needs an argument: -k", 2},
		{"topics {good.csv} -k many", `invalid value "many"`, 2},
		{"topics {good.csv} -k 1", "-k 1: want at least 2", 2},
		{"topics {good.csv} -k 0", "-k 0: want at least 2", 2},
		{"topics {good.csv} -k -3", "-k -3: want at least 2", 2},
		{"topics {good.csv} -k 1000", "-k 1000: that is too many topics for 58 texts; give at most 29", 1},
		{"topics {good.csv} -sure 3", "-sure 3: want 0, or at least 10", 2},
		{"topics {good.csv} -as excel", "-as excel: want one of", 2},
		{"topics {good.csv} -as git", "it is a file, and -as git wants a folder", 1},
		{"topics {docs} -as csv", "it is a folder, and -as csv wants a file", 1},
		{"topics {good.csv} -encoding klingon", "-encoding klingon: want a name", 2},
		{"topics {good.csv} -comma ab", "want one character", 2},
		{"topics {good.csv} -effects {new} -fast", "-effects goes with repeated fits", 2},
		{"topics {good.csv} -lang xx", "-lang xx: want one of", 1},
		{"topics {good.csv} -lang hr -stem", "there is no stemmer for hr", 1},
		{"topics {good.csv} -stop nowhere", "-stop nowhere: there is no such file", 1},
		{"topics {good.csv} -seeds {none}", "-seeds", 2},
		{"topics {good.csv} -seeds {seeds.txt}", "seeds.txt:1: want a name, a colon and words", 1},
		{"topics {good.csv} -seeds {noseeds.txt}", "no topics", 1},
		{"topics {good.csv} -edits {none}", "there is no such file", 2},
		{"topics {good.csv} -edits {edits.json} -fast -k 3", "-edits", 1},
		{"topics {good.csv} -settings {none}", "no such file", 2},
		{"topics {good.csv} -settings {set.txt}", `set.txt:1: want a flag, " = "`, 2},
		{"topics {good.csv} -settings {set2.txt}", "set2.txt:1: there is no flag -speed", 2},
		{"topics {good.csv} -report {good.csv}", "it is the file of the source, too", 2},
		{"topics {good.csv} -report {good.jsonl}", "it is there already; name another file, or give -force", 2},
		{"topics {good.csv} -report {docs}", "it is a folder; name a file in it", 2},
		{"topics {good.csv} -save {none/m}", "its folder does not exist", 2},
		{"topics {good.csv} -save {new} -documents {new}", "it is the file of", 2},
		{"topics {good.csv} -table {new}", "is a table or a folder already", 1},
		{"topics {none.csv}", "there is no such file or folder", 1},
		{"topics /dev/null", "it is a pipe or a device", 1},
		{"topics {empty.csv}", "it is empty", 1},
		{"topics {blank.txt}", "nothing but blanks", 1},
		{"topics {header.csv}", "", 1},
		{"topics {one.csv}", "topics need some hundred texts", 1},
		{"topics {same.txt}", "", 1},
		{"topics {bare}", "", 1},
		{"topics {folder}", "it is no text", 1},
		{"topics {docs} -ext .pdf", "", 1},
		{"topics {picture.png}", "it is no text", 1},
		{"topics {paper.pdf}", "turn it into text", 1},
		{"topics {program}", "it is no text", 1},
		{"topics {model.jsmf}", "it is a model; spectral show", 1},
		{"topics {latin.csv}", "latin.csv:62: column 4: invalid UTF-8", 1},
		{"topics {quote.csv}", "quote.csv", 1},
		{"topics {fields.csv}", "fields.csv:62", 1},
		{"topics {twice.csv} -id id", "id", 1},
		{"topics {twins.csv}", "text", 1},
		{"topics {numbers.csv}", "no column looks like texts; give -text with one of a, b", 1},
		{"topics {good.csv} -text body", `there is no column "body" for -text; the columns are id, day, kind, text`, 1},
		{"topics {good.csv} -class shop", `there is no column "shop" for -class`, 1},
		{"topics {good.csv} -number kind", `column "kind"`, 1},
		{"topics {baddate.csv} -time day", `baddate.csv:6: column "day": value "5 January"`, 1},
		{"topics {cut.gz}", "it is damaged", 1},
		{"topics {no.gz}", "", 1},
		{"topics {cut.jsonl}", "cut.jsonl:61", 1},
		{"topics {array.json}", "make JSON Lines of it", 1},
		{"topics {nofield.jsonl}", "no field looks like texts", 1},
		{"topics {mixed.jsonl}", "mixed.jsonl:61", 1},
		{"topics {good.jsonl} -text body", "body", 1},
		{"topics {broken.parquet}", "it is damaged", 1},
		{"topics {broken.zst}", "it is damaged", 1},
		{"topics {docword.x.txt}", "give -vocab", 1},
		{"topics {docs} -as git", "git log", 1},
		{"topics {docs} -as changelogs", "there is no */changelog.Debian.gz", 1},
		{"topics -", "it is empty", 1},
		{"show {none}", "there is no such model", 1},
		{"show {good.csv}", "it is no model", 1},
		{"show {model.jsmf}", "", 1},
		{"export {model.jsmf}", "-format \"\": want one of csv", 2},
		{"export {model.jsmf} -format xlsx", "-format xlsx: want one of csv", 2},
		{"refit {good.csv} {good.csv}", "it is no model", 1},
		{"apply {good.csv} {good.csv}", "it is no model", 1},
	} {
		args := strings.Fields(c.args)
		for i, a := range args {
			if strings.HasPrefix(a, "{") {
				args[i] = filepath.Join(dir, strings.Trim(a, "{}"))
			}
		}
		if len(args) > 1 && c.status == 1 && args[0] != "show" && args[0] != "export" {
			args = append(args, "-quiet")
			if args[0] == "topics" && !strings.Contains(c.args, "-report") {
				args = append(args, "-report", none)
			}
		}
		out, errs := invoke(t, c.status, args...)
		if out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %q and %q, want %q", c.args, out, errs, c.want)
		}
		if n := strings.Count(errs, "\n"); n != 1 && c.args != "" {
			t.Errorf("%s: %d lines, want 1: %s", c.args, n, errs)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("files were written or changed:\n%s\nbefore:\n%s", after, before)
	}
}

// listing returns the names and sizes of the files in a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, path, info.Size())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// closed is a pipe that nobody reads any more.
type closed struct{ err error }

func (c closed) Write([]byte) (int, error) { return 0, c.err }

// A closed pipe ends the program without a word, and a full disk with one line.
func TestOutputFails(t *testing.T) {
	path := messages(t)
	model := filepath.Join(t.TempDir(), "m")
	invoke(t, 0, columns(path, "-k", "4", "-fast", "-quiet", "-report", none, "-save", model)...)
	for err, want := range map[error]string{syscall.EPIPE: "", syscall.ENOSPC: "spectral: " + syscall.ENOSPC.Error() + "\n"} {
		var errs bytes.Buffer
		if got := run(t.Context(), []string{"show", model}, streams{out: closed{&os.PathError{Op: "write", Path: "/dev/stdout", Err: err}}, err: &errs}); got != 1 {
			t.Errorf("%v: exit status %d, want 1", err, got)
		}
		if got := errs.String(); err == syscall.EPIPE && got != "" || !strings.Contains(got, strings.TrimPrefix(strings.TrimSpace(want), "spectral: ")) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		if !errors.Is(err, syscall.EPIPE) && strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: %q, want one line", err, errs.String())
		}
	}
}

// A program and a library of two releases are told from those of one, and from what is built in a clone.
func TestSameRelease(t *testing.T) {
	const lib, v1, v2 = "github.com/jsmf-go/spectral", "v1.0.0", "v1.1.0"
	built := func(program string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Path: lib + "/jsmf/cmd/spectral", Main: debug.Module{Version: program}, Deps: deps}
	}
	other := &debug.Module{Path: "gonum.org/v1/gonum", Version: "v0.17.0"}
	for _, info := range []*debug.BuildInfo{nil, built(v1, other, &debug.Module{Path: lib, Version: v1}), built("(devel)", &debug.Module{Path: lib, Version: v2}),
		built(v1, &debug.Module{Path: lib, Version: v2, Replace: &debug.Module{Path: "../../.."}})} {
		if err := sameRelease(info); err != nil {
			t.Error(err)
		}
	}
	err := sameRelease(built(v1, other, &debug.Module{Path: lib + "/jsmf/serve", Version: v2}))
	if want := "this is spectral v1.0.0 with github.com/jsmf-go/spectral/jsmf/serve v1.1.0: install both of one version, by go install github.com/jsmf-go/spectral/jsmf/cmd/spectral@latest"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
