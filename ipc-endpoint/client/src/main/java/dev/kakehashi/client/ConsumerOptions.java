package dev.kakehashi.client;

import java.time.Duration;
import java.util.function.BiConsumer;

/// How a [Consumer] works. Immutable.
///
/// @param concurrency tasks that are worked on at once, each on a thread of its own; 1 or more
/// @param prefetch tasks that are taken beyond these, to be at hand
/// @param longestWait longest time of one request for tasks
/// @param drain time that [Consumer#close()] leaves to tasks that are worked on
/// @param failed told of attempts that have failed, and of tasks that were lost, on the worker's thread; the engine keeps the error's
///     message anyway
public record ConsumerOptions(
    int concurrency,
    int prefetch,
    Duration longestWait,
    Duration drain,
    BiConsumer<QueueTask, Throwable> failed) {
  public static final ConsumerOptions DEFAULT =
      new ConsumerOptions(
          1, 0, Duration.ofSeconds(20), Duration.ofSeconds(30), (task, failure) -> {});

  /// @throws IllegalArgumentException a number is out of range
  public ConsumerOptions {
    if (concurrency < 1 || concurrency > 1000 || prefetch < 0 || prefetch > 10_000) {
      throw new IllegalArgumentException(
          "concurrency is 1 to 1000 and prefetch 0 to 10000, not "
              + concurrency
              + " and "
              + prefetch);
    }
  }

  public ConsumerOptions withConcurrency(int value) {
    return new ConsumerOptions(value, prefetch, longestWait, drain, failed);
  }

  public ConsumerOptions withPrefetch(int value) {
    return new ConsumerOptions(concurrency, value, longestWait, drain, failed);
  }

  public ConsumerOptions withWait(Duration value) {
    return new ConsumerOptions(concurrency, prefetch, value, drain, failed);
  }

  public ConsumerOptions withDrain(Duration value) {
    return new ConsumerOptions(concurrency, prefetch, longestWait, value, failed);
  }

  public ConsumerOptions onFailure(BiConsumer<QueueTask, Throwable> listener) {
    return new ConsumerOptions(concurrency, prefetch, longestWait, drain, listener);
  }
}
