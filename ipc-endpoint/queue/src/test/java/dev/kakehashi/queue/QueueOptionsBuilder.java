package dev.kakehashi.queue;

import dev.kakehashi.engine.api.queue.QueueOptions;

/// Options by their names, for tests.
public final class QueueOptionsBuilder {
  long leaseMillis = QueueOptions.DEFAULT.leaseMillis();
  int maxAttempts = QueueOptions.DEFAULT.retry().maxAttempts();
  long minBackoff = 1000;
  long maxBackoff = 3_600_000;
  int maxDoublings = 10;
  double jitter;
  long ageLimit;
  long deadLetter;
  double rate = -1;
  int bucketSize = 100;
  int maxConcurrent;
  double keyRate = -1;
  int keyBucketSize = 1;
  int keyMaxConcurrent;
  boolean orderByKey;
  long agingMillis = 60_000;
  boolean paused;

  public QueueOptionsBuilder leaseMillis(long to) {
    leaseMillis = to;
    return this;
  }

  public QueueOptionsBuilder maxAttempts(int to) {
    maxAttempts = to;
    return this;
  }

  public QueueOptionsBuilder backoff(long min, long max, int doublings) {
    minBackoff = min;
    maxBackoff = max;
    maxDoublings = doublings;
    return this;
  }

  public QueueOptionsBuilder ageLimit(long to) {
    ageLimit = to;
    return this;
  }

  public QueueOptionsBuilder deadLetter(long to) {
    deadLetter = to;
    return this;
  }

  public QueueOptionsBuilder rate(double to, int bucket) {
    rate = to;
    bucketSize = bucket;
    return this;
  }

  public QueueOptionsBuilder maxConcurrent(int to) {
    maxConcurrent = to;
    return this;
  }

  public QueueOptionsBuilder keyRate(double to, int bucket) {
    keyRate = to;
    keyBucketSize = bucket;
    return this;
  }

  public QueueOptionsBuilder keyMaxConcurrent(int to) {
    keyMaxConcurrent = to;
    return this;
  }

  public QueueOptionsBuilder jitter(double to) {
    jitter = to;
    return this;
  }

  public QueueOptionsBuilder ordered() {
    orderByKey = true;
    return this;
  }

  public QueueOptionsBuilder aging(long to) {
    agingMillis = to;
    return this;
  }

  public QueueOptionsBuilder paused(boolean to) {
    paused = to;
    return this;
  }

  public QueueOptions build() {
    return new QueueOptions(
        leaseMillis,
        new QueueOptions.Retry(
            maxAttempts, minBackoff, maxBackoff, maxDoublings, jitter, ageLimit, deadLetter),
        new QueueOptions.StartLimits(rate, bucketSize, maxConcurrent),
        new QueueOptions.StartLimits(keyRate, keyBucketSize, keyMaxConcurrent),
        orderByKey,
        agingMillis,
        paused,
        new QueueOptions.Push(null, 10_000));
  }
}
