//go:build unix

package regular

import "syscall"

// nonblock has open return at once where the path is a pipe, so that its kind can be looked
// at; regular files know no difference.
const nonblock = syscall.O_NONBLOCK
