package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// gitColumns are the columns of the table of a repository.
var gitColumns = []string{"id", "date", "author", "folder", "title", "text"}

// gitFormat puts one hash, date, author and message of a commit between zero bytes, which
// no message can hold. The paths of its files follow.
const gitFormat = "--format=%x01%h%x00%aI%x00%aN%x00%B%x00"

// writeGit writes a record for each commit of the repository in a folder, newest first,
// merges aside: its message without the trailers, and the top folder of most of its files.
func writeGit(ctx context.Context, folder string, w *maker) error {
	cmd := exec.CommandContext(ctx, "git", "-C", folder, "-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--name-only", "-z", "--encoding=UTF-8", gitFormat)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	err = errors.Join(w.write(gitColumns...), gitRecords(bufio.NewReaderSize(out, 1<<16), w))
	_, _ = io.Copy(io.Discard, out) // what is left after an error, or Wait would wait
	if waited := cmd.Wait(); ctx.Err() != nil {
		return ctx.Err()
	} else if waited != nil {
		return fmt.Errorf("%s: git log: %w: %s", folder, waited, bytes.TrimSpace(errs.Bytes()))
	}
	return err
}

// gitRecords turns what git log prints into records.
func gitRecords(r *bufio.Reader, w *maker) error {
	var commit []string // hash, date, author, message
	folders := map[string]int{}
	flush := func() error {
		if len(commit) < 4 {
			return nil
		}
		title, _, _ := strings.Cut(commit[3], "\n")
		return w.write(commit[0], commit[1], commit[2], most(folders), strings.TrimSpace(title), withoutTrailers(commit[3]))
	}
	for {
		s, err := r.ReadString(0)
		if err == io.EOF {
			return flush()
		}
		if err != nil {
			return err
		}
		s = strings.TrimSuffix(s, "\x00")
		switch hash, begins := strings.CutPrefix(s, "\x01"); {
		case begins:
			if err := flush(); err != nil {
				return err
			}
			commit = append(commit[:0], hash)
			clear(folders)
		case len(commit) < 4:
			commit = append(commit, s)
		default:
			if path := strings.TrimPrefix(s, "\n"); path != "" {
				top, _, below := strings.Cut(path, "/")
				if !below {
					top = "(top)"
				}
				folders[top]++
			}
		}
	}
}

// most returns the name of the largest count, of equal ones the first by bytes.
func most(counts map[string]int) string {
	best := ""
	for name, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && name < best {
			best = name
		}
	}
	return best
}

// withoutTrailers returns a commit message without a last paragraph of lines such as
// "Signed-off-by: somebody".
func withoutTrailers(message string) string {
	message = strings.TrimSpace(message)
	at := strings.LastIndex(message, "\n\n")
	if at < 0 {
		return message
	}
	for line := range strings.Lines(message[at+2:]) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || value == "" || strings.ContainsAny(key, " \t") {
			return message
		}
	}
	return strings.TrimSpace(message[:at])
}
