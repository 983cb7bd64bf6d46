package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// kinds are files that are no text, by their first bytes, and what to do with them.
var kinds = []struct{ magic, what string }{
	{"%PDF-", "a PDF; take the text out of it first, as pdftotext does"},
	{"PK\x03\x04", "a ZIP archive, as .docx, .xlsx, .odt and .epub files are; unpack it, or save it as text or CSV"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office; save it as text or CSV"},
	{`{\rtf`, "a document in RTF; save it as text"},
	{"\x89JSMF\r\n", "a model, which jsmf.LoadModel reads"},
	{encodedMagic[:7], "encoded documents, which corpus.OpenEncoded reads"},
	{"\x89JACC\r\n", "documents that a service holds"},
	{"\x1f\x8b", "gzipped twice; unpack it once"},
	{"\xfd7zXZ\x00", "compressed by xz; unpack it, or use gzip"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it, or use gzip"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it"},
	{"Rar!\x1a\x07", "a RAR archive; unpack it"},
	{"SQLite format 3\x00", "a database of SQLite; query it and yield the rows to corpus.FromSeq, or save them as CSV"},
	{"PAR1\x15", "a Parquet file; save it as CSV or JSON Lines"},
	{"\x93NUMPY", "an array of NumPy"},
	{"\x80\x04\x95", "a pickle of Python; save it as CSV or JSON Lines"},
	{"\x89PNG\r\n", "a picture"},
	{"\xff\xd8\xff", "a picture"},
	{"GIF87a", "a picture"},
	{"GIF89a", "a picture"},
}

// kindSize is how many bytes kindOf wants to see.
const kindSize = 262

// kindOf returns what a file is by its first bytes, if it is no text; otherwise "".
func kindOf(head []byte) string {
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.what
		}
	}
	switch {
	case len(head) >= 10 && string(head[:3]) == "BZh" && string(head[4:10]) == "1AY&SY":
		return "compressed by bzip2; unpack it, or use gzip"
	case len(head) == kindSize && string(head[257:]) == "ustar":
		return "a tar archive; unpack it into a folder"
	}
	return ""
}

// notColumns is a hint about a header that lacks a column, or "".
func notColumns(header []string) string {
	if what := notTable(header[0]); what != "" || len(header) > 1 {
		return what
	}
	for _, sep := range []string{"\t", ";", "|", ","} {
		if strings.Contains(header[0], sep) {
			return fmt.Sprintf("; its fields seem to be separated by %q: set CSV.Comma", sep)
		}
	}
	return ""
}

// notTable is a hint about a file that begins so and may be no table, or "".
func notTable(begin string) string {
	begin = strings.TrimSpace(begin)
	switch {
	case strings.HasPrefix(begin, "{"):
		return "; it looks like JSON Lines, which corpus.JSONL reads"
	case strings.HasPrefix(begin, "["):
		return "; it looks like JSON; write one object a line, and read that by corpus.JSONL"
	case strings.HasPrefix(begin, "<"):
		return "; it looks like HTML or XML"
	}
	return ""
}

// notObject is a hint about a line of JSON Lines that is no object, or "".
func notObject(line []byte) string {
	line = bytes.TrimSpace(line)
	switch {
	case bytes.HasPrefix(line, []byte("[")):
		return "; an array has to be written with one object a line, as jq -c '.[]' does"
	case bytes.HasPrefix(line, []byte("{")) && !bytes.HasSuffix(line, []byte("}")) && !json.Valid(line):
		return "; a document has to be on one line, as jq -c . writes it"
	case bytes.HasPrefix(line, []byte("<")):
		return "; it looks like HTML or XML"
	case !bytes.HasPrefix(line, []byte("{")) && bytes.ContainsAny(line, ",\t;"):
		return "; it looks like a table, which corpus.CSV reads"
	}
	return ""
}

// isUCI reports whether lines are those of a file of counts in UCI form.
func isUCI(lines []string) bool {
	if len(lines) < 4 {
		return false
	}
	fields := strings.Fields(lines[3])
	return len(fields) == 3 && !slices.ContainsFunc(append(fields, lines[:3]...), func(s string) bool { return s == "" || strings.Trim(s, "0123456789") != "" })
}
