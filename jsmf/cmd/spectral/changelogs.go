package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// changelogColumns are the columns of the table of Debian's changelogs.
var changelogColumns = []string{"id", "date", "package", "maintainer", "urgency", "text"}

// writeChangelogs writes a record for each entry of the files */changelog.Debian.gz in a
// folder, such as /usr/share/doc. Packages of one source have the same entries, which are
// written once.
func writeChangelogs(ctx context.Context, dir string, w *maker) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "changelog.Debian.gz"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s: there is no */changelog.Debian.gz", dir)
	}
	if err := w.write(changelogColumns...); err != nil {
		return err
	}
	written, first := make(map[string]bool), error(nil)
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		var failed error // to write
		err := readChangelog(path, func(e entry) error {
			id := e.source + " " + e.version
			if written[id] || e.text == "" {
				return nil
			}
			written[id] = true
			failed = w.write(id, e.date.Format(time.RFC3339), e.source, e.maintainer, e.urgency, e.text)
			return failed
		})
		if failed != nil {
			return failed
		}
		if err != nil {
			w.files.add(err.Error())
			first = cmp.Or(first, err)
		}
	}
	if w.files.n == len(paths) {
		return fmt.Errorf("%s: none of %d files can be read; the first: %w", dir, len(paths), first)
	}
	return nil
}

// entry is one version of a package in its changelog.
type entry struct {
	source, version, urgency, maintainer, text string
	date                                       time.Time
}

var (
	// entryHead is the first line of an entry: source (version) distributions; urgency=low
	entryHead = regexp.MustCompile(`^(\S+) \(([^)]+)\) [^;]*;(.*)$`)
	urgency   = regexp.MustCompile(`(?i)\burgency=([a-z]+)`)
	// closes is a reference to a report of a bug, and signed the name over the lines of one
	// of several people: both say nothing of what was done.
	closes = regexp.MustCompile(`(?i)\(?\b(closes|lp|see):? *#\d+([, ]+#\d+)*\)?\.?`)
	signed = regexp.MustCompile(`(?m)^\s*\[ [^]]+ \]\s*$`)
)

// readChangelog calls f for each entry of a file. Old entries whose date cannot be read are
// left out.
func readChangelog(path string, f func(entry) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 1<<20)
	var e entry
	var body strings.Builder
	for in.Scan() {
		line := in.Text()
		if head := entryHead.FindStringSubmatch(line); head != nil {
			e = entry{source: head[1], version: head[2]}
			if u := urgency.FindStringSubmatch(head[3]); u != nil {
				e.urgency = strings.ToLower(u[1])
			}
			body.Reset()
			continue
		}
		who, ok := strings.CutPrefix(line, " -- ")
		if !ok {
			body.WriteString(line + "\n")
			continue
		}
		name, date, _ := strings.Cut(who, "  ")
		e.maintainer, _, _ = strings.Cut(strings.TrimSpace(name), " <")
		e.text = plain(body.String())
		if e.date, err = mail.ParseDate(strings.TrimSpace(date)); err != nil || e.source == "" {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
		e = entry{}
	}
	if err := in.Err(); err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// plain returns the text of an entry without numbers of bugs and names of authors.
func plain(text string) string {
	text = closes.ReplaceAllString(signed.ReplaceAllString(text, ""), "")
	return strings.TrimSpace(text)
}
