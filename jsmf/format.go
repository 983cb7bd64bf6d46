package jsmf

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// The file format is described in FORMAT.md.

const (
	formatMagic   = "\x89JSMF\r\n\x1a" // 8 bytes; a transfer as text breaks them
	formatVersion = 2

	headerLen        = 40
	sectionHeaderLen = 20
	trailerLen       = 8
	trailerTag       = "JEND"

	flagRequired = 1 // a reader that does not know the section must refuse the file

	maxSections = 1024
	maxWords    = math.MaxInt32

	// chunkLen is how many bytes are read or written at once, and how much
	// memory is taken ahead of an input of unknown length. A multiple of 8.
	chunkLen = 64 << 10
)

// Tags of the sections, in the order in which they are written.
const (
	tagVocabulary   = "VOCB"
	tagTopics       = "BMAT"
	tagWordTopics   = "WTOP"
	tagCorrelations = "AMAT"
	tagAnchors      = "ANCH"
	tagAnchorGroups = "GRUP"
	tagMarginals    = "MARG"
	tagAlpha        = "ALPH"
	tagProvenance   = "PROV"
	tagStats        = "STAT"
	tagDual         = "DUAL"
	tagText         = "TEXT"
	tagState        = "RECT"
	tagReading      = "READ"
	tagBackground   = "BACK"
	tagNames        = "NAME"
	tagDocuments    = "DOCS"
	tagUncertainty  = "BOOT"
	tagVerdicts     = "VERD"
)

// What may be wrong with a model file, for errors.Is. The error itself is a
// *FormatError.
var (
	// ErrNotModel: the file does not begin as a model file does.
	ErrNotModel = errors.New("not a model file")
	// ErrUnsupported: the file has another version, or a required section, that
	// this version of the library does not know.
	ErrUnsupported = errors.New("unsupported by this version of the library")
	// ErrTruncated: the file ends too early. Such errors also match
	// io.ErrUnexpectedEOF.
	ErrTruncated = errors.New("truncated")
	// ErrChecksum: bytes have changed since the file was written.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrInvalid: the checksums are right, but the content makes no model.
	ErrInvalid = errors.New("invalid content")
)

// FormatError says what is wrong with a model file, and where.
type FormatError struct {
	// Kind is one of ErrNotModel, ErrUnsupported, ErrTruncated, ErrChecksum
	// and ErrInvalid.
	Kind error
	// Section is "header", "trailer", or the tag of a section.
	Section string
	// Field names the part of the model or of the section; it may be empty.
	Field string
	// Offset is where the piece with the error begins, in bytes from where
	// reading began; for ErrTruncated it is the number of bytes there were.
	Offset int64
	// Detail says more; it may be empty.
	Detail string
}

// Error returns one line, without the name of the package.
func (e *FormatError) Error() string {
	s := e.Kind.Error()
	if e.Section != "" {
		s += fmt.Sprintf(": section %q", e.Section)
	}
	s += fmt.Sprintf(", byte %d", e.Offset)
	if e.Field != "" {
		s += ": " + e.Field
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns Kind, and io.ErrUnexpectedEOF for truncated files.
func (e *FormatError) Unwrap() []error {
	if e.Kind == ErrTruncated {
		return []error{e.Kind, io.ErrUnexpectedEOF}
	}
	return []error{e.Kind}
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once by hash/crc32
