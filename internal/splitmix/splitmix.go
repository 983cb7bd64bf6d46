// Package splitmix scatters the bits of numbers, as SplitMix64 does (Steele, Lea and Flood,
// Fast Splittable Pseudorandom Number Generators, 2014).
package splitmix

// Step returns the output of SplitMix64 in state x. Outputs for different numbers, neighbours
// among them, are as good as independent.
func Step(x uint64) uint64 { return Finish(x + 0x9e3779b97f4a7c15) }

// Finish returns the last part of a Step. It sends 0 to 0.
func Finish(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
