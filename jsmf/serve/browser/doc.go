// Package browser tests the service's page in a real browser. It holds tests only,
// and is a module of its own so that the service needs no driver of browsers.
//
// The tests look for Chromium or Chrome in PATH, and skip where there is none. With
// SERVICE_SHOTS they save pictures of the page in that folder.
package browser
