package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jsmf-go/spectral/corpus/text"
)

// tokenizer splits the texts of documents to keep, whatever the model that serves.
var tokenizer = text.Default()

// Serve answers on l until ctx ends. Then it takes no more connections, stops a
// refit, lets the requests in progress end, for at most grace, and returns nil. The caller closes
// the Service after that.
func (s *Service) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	lim := s.cfg.Limits
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: lim.Stall,
		ReadTimeout:       lim.Request,             // handlers that read a body set their own
		WriteTimeout:      lim.Request + lim.Stall, // answer.Write sets its own
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          errorLog(s.cfg.Log),
		ConnState:         s.conns.state,
		ConnContext:       s.conns.context,

		DisableGeneralOptionsHandler: true,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stop()
	s.cfg.Log.Info("stopping")
	end, stop := context.WithTimeout(base, grace)
	defer stop()
	err := srv.Shutdown(end)
	if err != nil {
		s.cfg.Log.Warn("requests were still being answered", "after", grace)
		cancel()
		err = srv.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// errorLog takes the messages of package http about connections, which are of use for debugging
// only.
func errorLog(l *slog.Logger) *log.Logger { return slog.NewLogLogger(l.Handler(), slog.LevelDebug) }
