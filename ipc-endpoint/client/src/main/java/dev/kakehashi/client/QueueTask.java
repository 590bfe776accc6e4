package dev.kakehashi.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A task that was taken out of a queue. It is lent until its lease ends: by [#complete()], [#fail], [#release], by time, or with the
/// session that took it.
///
/// Calls that end the lease are made in the session of its queue, on that session's thread. Everything else may come from any thread.
public final class QueueTask {
  private final TaskQueue queue;
  private final String token;
  private final long taskId;
  private final int attempt;
  private final @Nullable String key;
  private final @Nullable String fair;
  private final int priority;
  private final @Nullable String json;
  private final byte @Nullable [] bytes;
  private final Instant enqueuedAt;
  private final @Nullable String lastError;
  private final long leaseNanos;
  private volatile long deadlineNanos;
  private volatile boolean lost;

  /// @param askedNanos when the lease was asked for, by the monotonic clock: it has not begun before
  /// @param rows at the task's row, whose columns are those of [TaskQueue]
  QueueTask(TaskQueue queue, Rows rows, long askedNanos) {
    this.queue = queue;
    this.token = rows.getString(0);
    this.taskId = rows.getLong(1);
    this.attempt = rows.getInt(2);
    this.key = rows.isNull(3) ? null : rows.getString(3);
    this.fair = rows.isNull(4) ? null : rows.getString(4);
    this.priority = rows.getInt(5);
    this.json = rows.isNull(6) ? null : rows.getString(6);
    this.bytes = rows.isNull(7) ? null : rows.getBytes(7);
    this.enqueuedAt = rows.getTimestamptz(8);
    this.lastError = rows.isNull(10) ? null : rows.getString(10);
    this.leaseNanos = Math.max(0, untilThen(rows.getTimestamptz(9)));
    this.deadlineNanos = Math.max(askedNanos, System.nanoTime()) + leaseNanos;
  }

  private static long untilThen(Instant then) {
    return Duration.between(Instant.now(), then).toNanos();
  }

  /// Names the lease.
  public String token() {
    return token;
  }

  /// The number that `enqueue` returned.
  public long taskId() {
    return taskId;
  }

  /// From 1.
  public int attempt() {
    return attempt;
  }

  public @Nullable String key() {
    return key;
  }

  public @Nullable String fair() {
    return fair;
  }

  public int priority() {
    return priority;
  }

  /// The payload as JSON.
  ///
  /// @throws IllegalStateException it is bytes
  public String json() {
    if (json == null) {
      throw new IllegalStateException("the payload is no JSON");
    }
    return json;
  }

  public boolean isJson() {
    return json != null;
  }

  /// The payload as bytes: those of a JSON text are UTF-8. Not a copy.
  public byte[] bytes() {
    if (bytes != null) {
      return bytes;
    }
    return json().getBytes(StandardCharsets.UTF_8);
  }

  public Instant enqueuedAt() {
    return enqueuedAt;
  }

  /// Why the attempt before failed; null: there was none, or it said nothing.
  public @Nullable String lastError() {
    return lastError;
  }

  /// Whether the lease is known to have ended without the holder's doing, or its time is over: somebody else may have the task. Work that
  /// goes on changes nothing any more.
  public boolean lost() {
    return lost || deadlineNanos - System.nanoTime() <= 0;
  }

  /// How long the lease was, in nanoseconds.
  long leaseNanos() {
    return leaseNanos;
  }

  void markLost() {
    lost = true;
  }

  /// @param until as the endpoint says
  void markExtended(Instant until) {
    deadlineNanos = System.nanoTime() + untilThen(until);
  }

  /// The task is done; durable when this returns.
  ///
  /// @throws EndpointException 55K01: the lease is lost
  public void complete() {
    queue.complete(null, List.of(this));
  }

  /// The task is done if the transaction commits. The commit fails with 55K01 if the lease is lost by then.
  public void complete(Transaction transaction) {
    queue.complete(transaction, List.of(this));
  }

  /// The attempt has failed: the task is lent again after the queue's wait, or is dead.
  ///
  /// @param error for [#lastError()]; null: nothing
  public void fail(@Nullable String error) {
    queue.fail(this, error, null);
  }

  /// @param retryIn wait before the next attempt
  public void fail(@Nullable String error, Duration retryIn) {
    queue.fail(this, error, retryIn);
  }

  /// Gives the task back, as if it had not been taken.
  public void release() {
    queue.release(this);
  }

  /// The lease is this long from now on.
  ///
  /// @param lease null: the queue's
  public void extend(@Nullable Duration lease) {
    queue.extend(this, lease);
  }

  @Override
  public String toString() {
    return "task " + taskId + " attempt " + attempt;
  }
}
