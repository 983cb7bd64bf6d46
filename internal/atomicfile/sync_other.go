//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepMode does nothing: access follows the folder's rules, and the only
// permission bit Windows knows, read-only, has kept a file from being replaced.
func keepMode(*os.File, fs.FileMode) error { return nil }

// SyncDir does nothing: folders cannot be synced.
func SyncDir(string) error { return nil }
