package jsmf

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/internal/linalg"
	recovery "github.com/jsmf-go/spectral/recover"
)

// findAnchors sets r.rows and r.anch.
func (r *run) findAnchors(ctx context.Context) error {
	info := r.pr.c.Info()
	r.find = anchor.Options{
		Workers: r.ask.workers, Seed: r.ask.seed, Vocabulary: r.pr.names(), Numbers: r.pr.keep,
		DocFrequencies: info.DocFrequencies, Docs: info.Documents,
		Prefer: r.prefer(), PreferTol: anchorHysteresis,
		Progress: func(done, total int, norm float64) { r.tr.progress(done, total, "norm", norm) },
	}
	return r.tr.run(&r.st, StageAnchors, r.ask.finder.String(), func() (string, error) {
		rows, err := r.rect.Rows(ctx, r.ask.workers)
		if err != nil {
			return "", err
		}
		anch, err := r.ask.finder.Find(ctx, rows, r.topics, r.find)
		if fewer := available(err); fewer >= r.ask.k && fewer < r.topics { // the extra ones are not all to be had
			r.topics = fewer
			anch, err = r.ask.finder.Find(ctx, rows, r.topics, r.find)
		}
		if err != nil {
			return "", err
		}
		if anch == nil || len(anch.Anchors) < 2 {
			return "", fmt.Errorf("%v found fewer than the 2 anchors a model needs", r.ask.finder)
		}
		if anch.ChoseK {
			if len(anch.Anchors) > r.topics {
				r.warn("%d topics, as many as %v found anchors; the matrix was rectified for %d", len(anch.Anchors), r.ask.finder, r.topics)
			}
		} else if len(anch.Anchors) < min(r.topics, r.ask.k) {
			r.warn("%d topics instead of the %d asked for: the data has no more", len(anch.Anchors), r.ask.k)
		}
		r.rows, r.anch = rows, anch
		return fmt.Sprintf("%d anchors of %d candidates", len(anch.Anchors), anch.Candidates), nil
	})
}

// available returns how many anchors could be found if err says that they are too few, or else 0.
func available(err error) int {
	if e, ok := errors.AsType[*anchor.RankError](err); ok {
		return e.Rank
	}
	if e, ok := errors.AsType[*anchor.CandidateError](err); ok {
		return e.Candidates
	}
	return 0
}

// recover sets r.rec.
func (r *run) recover(ctx context.Context) error {
	return r.tr.run(&r.st, StageRecover, r.ask.recoverer.String(), func() (string, error) {
		rec, err := r.recoverFrom(ctx, r.anch)
		if err != nil {
			return "", err
		}
		if len(r.find.Prefer) > 0 && misfit(linalg.Sum(rec.A)) > maxMisfit {
			if rec, err = r.recoverAfresh(ctx, rec); err != nil {
				return "", err
			}
		}
		r.rec = rec
		r.judge()
		return fmt.Sprintf("%d words, mean objective %.4g", rec.Words, rec.Objective), nil
	})
}

// judge warns of what is wrong with r.rec.
func (r *run) judge() {
	rec, sum := r.rec, linalg.Sum(r.rec.A)
	r.st.Sum = sum
	if !(misfit(sum) <= noFit) {
		r.warn("the topic correlations sum to %.4g and not to about 1: the model does not fit; anchors that are in very few documents do that, which anchor.QR's MinDocs or a smaller vocabulary prevents", sum)
	}
	if rec.Limited > 0 {
		r.warn("the solver hit its iteration limit for %d of %d words; the largest gap to the optimum is %.2g", rec.Limited, rec.Words, rec.MaxGap)
	}
	for _, w := range rec.Warnings {
		r.warn("%s", w)
	}
}

func (r *run) recoverFrom(ctx context.Context, anch *anchor.Result) (*recovery.Result, error) {
	rec, err := r.ask.recoverer.Recover(ctx, r.rows, anch.Anchors, recovery.Options{Workers: r.ask.workers, Points: anch.Points, Progress: func(done, total int) {
		r.tr.progress(done, total, "", 0)
	}})
	if err != nil {
		if e, ok := errors.AsType[*recovery.AnchorError](err); ok && r.pr.info.Vocabulary != nil {
			err = fmt.Errorf("%w (%q)", err, r.pr.name(e.Word))
		}
		return nil, err
	}
	if rec == nil || rec.B == nil || rec.WordTopics == nil || rec.A == nil {
		return nil, fmt.Errorf("%v returned no model", r.ask.recoverer)
	}
	return rec, nil
}

// recoverAfresh finds anchors without regard to the previous model, and uses them if they fit
// better than rec.
func (r *run) recoverAfresh(ctx context.Context, rec *recovery.Result) (*recovery.Result, error) {
	opt := r.find
	opt.Prefer, opt.Progress = nil, nil
	fresh, err := r.ask.finder.Find(ctx, r.rows, r.topics, opt)
	if available(err) > 0 { // not as many as with those of the previous model
		return rec, nil
	}
	if err != nil {
		return nil, err
	}
	if slices.Equal(fresh.Anchors, r.anch.Anchors) {
		return rec, nil
	}
	again, err := r.recoverFrom(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if misfit(linalg.Sum(again.A)) < misfit(linalg.Sum(rec.A)) {
		r.anch, rec, r.find.Prefer = fresh, again, nil
	}
	return rec, nil
}
