package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/metrics/judge"
)

var invoke = clitest.Program(run).Invoke

// Who reads the texts, which say what they are about, finds all intruders and corrects all shares.
func TestJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	subjects := []string{"sea", "bread", "stars"}
	dir, out := t.TempDir(), t.TempDir()
	for d := range 120 {
		var words []string
		for range 40 {
			words = append(words, fmt.Sprintf("%s%d", subjects[d%3], 1+rng.IntN(15)))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.txt", d)), []byte(strings.Join(words, " ")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-dir", dir, "-k", "3", "-sample", "30"}
	if s, _ := invoke(t, 0, append(args, "-out", out)...); !strings.Contains(s, "39 tasks on 3 topics") {
		t.Error(s)
	}
	var tasks []judge.Task
	b, err := os.ReadFile(filepath.Join(out, "tasks.json"))
	if err != nil || json.Unmarshal(b, &tasks) != nil {
		t.Fatal(err)
	}
	subject := func(s string) string { return strings.TrimRight(strings.Fields(s)[0], "0123456789,") }
	var answers []judge.Answer
	for _, task := range tasks {
		a := judge.Answer{ID: task.ID}
		count := make(map[string]int)
		for _, o := range task.Options {
			count[subject(o)]++
		}
		for i, o := range task.Options {
			switch {
			case task.Kind == judge.Label:
				a.Ratings = append(a.Ratings, map[bool]float64{true: 5, false: 1}[subject(o) == subject(task.Words[0])])
			case task.Kind == judge.Choose && subject(o) == subject(task.Texts[0]), task.Kind != judge.Choose && count[subject(o)] == 1:
				a.Choice = i + 1
			}
		}
		answers = append(answers, a)
	}
	path := filepath.Join(out, "answers.json")
	if b, err = json.Marshal(answers); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	s, _ := invoke(t, 0, append(args, "-answers", path)...)
	for _, want := range []string{"words      1.00 (", "documents  1.00 (", "label      1.00 (", "by judges and model", " 33."} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

func TestUsage(t *testing.T) {
	invoke(t, 0, "-help")
	_, errs := invoke(t, 2, "-k", "1", "-sample", "-1", "x")
	for _, want := range []string{"-dir is missing", "want one of -out and -answers", "-k 1", "-sample -1", `argument "x"`} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %s in\n%s", want, errs)
		}
	}
	if _, errs := invoke(t, 1, "-dir", t.TempDir(), "-out", t.TempDir()); errs == "" {
		t.Error("an empty folder is no error")
	}
}
