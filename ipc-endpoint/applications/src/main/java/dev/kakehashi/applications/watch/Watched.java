package dev.kakehashi.applications.watch;

/// Something that the watch looks at.
@FunctionalInterface
public interface Watched {
  /// Looks whether it has taken too long; short, without blocking, never fails. On the watch's thread.
  ///
  /// @return whether it did not heed a request to end, so that it should be looked at by people
  boolean look(long nowNanos);
}
