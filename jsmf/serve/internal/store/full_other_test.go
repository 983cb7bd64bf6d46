//go:build !unix

package store

func fillUp(string) {} // there are no limits to set
