package jsmf

import "github.com/jsmf-go/spectral/internal/errs"

// errorf and wrap put "jsmf: " in front of an error, once.
func errorf(format string, args ...any) error { return errs.Errorf("jsmf", format, args...) }

func wrap(err error) error { return errs.Wrap("jsmf", err) }

// while puts "jsmf: " and what was done in front of the error that a function returns, by defer.
func while(doing string, err *error) {
	if *err != nil {
		*err = errorf("%s: %w", doing, *err)
	}
}
