package dev.kakehashi.application;

import java.time.Duration;
import java.util.Optional;

/// A queue as the transaction of a call uses it: tasks are there when it commits.
public interface TypedQueue<T> {
  /// @return number of the task within its queue
  long add(T payload);

  long add(T payload, Options options);

  /// How a task is enqueued.
  ///
  /// @param key of its order
  /// @param fairKey whose share it counts for
  /// @param priority the greater, the sooner; 0 usually
  /// @param delay from now on; zero: none
  /// @param uniqueKey a task of the same key that is there makes this one none
  record Options(
      Optional<String> key,
      Optional<String> fairKey,
      int priority,
      Duration delay,
      Optional<String> uniqueKey) {
    public static final Options NONE =
        new Options(Optional.empty(), Optional.empty(), 0, Duration.ZERO, Optional.empty());

    public static Options key(String key) {
      return new Options(Optional.of(key), Optional.empty(), 0, Duration.ZERO, Optional.empty());
    }

    public static Options after(Duration delay) {
      return new Options(Optional.empty(), Optional.empty(), 0, delay, Optional.empty());
    }
  }
}
