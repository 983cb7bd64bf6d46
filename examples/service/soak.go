package main

import (
	"context"
	"io"
)

func runSoak(ctx context.Context, args []string, stdout, stderr io.Writer) int { return 0 }
