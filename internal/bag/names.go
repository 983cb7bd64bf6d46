package bag

// maxNames is how many documents left out are listed at most. Model files hold the names.
const maxNames = 1000

// Leave counts a document that is left out, and lists its name. Beyond 1000 documents no
// name is listed.
func Leave(count *int, names *[]string, name string) {
	if *count++; *count > maxNames {
		*names = nil
		return
	}
	*names = append(*names, name)
}
