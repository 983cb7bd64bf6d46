package beam

import "sync"

// once keeps the value that was made of a file last, for all goroutines of a worker: those of
// a job need the same vocabulary or model. An error is not kept.
type once[T any] struct {
	mu    sync.Mutex
	key   string
	have  bool
	value T
}

// get returns the value of a file, which make makes. Goroutines that want it meanwhile wait.
func (o *once[T]) get(key string, make func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.have && o.key == key {
		return o.value, nil
	}
	var none T
	o.have, o.value = false, none // so that two are not held
	v, err := make()
	if err == nil {
		o.key, o.have, o.value = key, true, v
	}
	return v, err
}
