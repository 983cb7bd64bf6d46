// Package browser tests the pages of package report in a real browser. It is a
// module of its own so that the library needs no driver of browsers; package visit
// holds what tests of other pages can use too.
//
// The tests look for Chromium or Chrome in PATH, and skip where there is none. With
// REPORT_SHOTS they save pictures of the pages in that folder.
package browser
