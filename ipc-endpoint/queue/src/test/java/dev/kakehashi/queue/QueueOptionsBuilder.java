package dev.kakehashi.queue;

import dev.kakehashi.engine.api.queue.QueueOptions;

/// Options by their names, for tests.
final class QueueOptionsBuilder {
  long leaseMillis = QueueOptions.DEFAULT.leaseMillis();
  int maxAttempts = QueueOptions.DEFAULT.maxAttempts();
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

  QueueOptionsBuilder leaseMillis(long to) {
    leaseMillis = to;
    return this;
  }

  QueueOptionsBuilder maxAttempts(int to) {
    maxAttempts = to;
    return this;
  }

  QueueOptionsBuilder backoff(long min, long max, int doublings) {
    minBackoff = min;
    maxBackoff = max;
    maxDoublings = doublings;
    return this;
  }

  QueueOptionsBuilder ageLimit(long to) {
    ageLimit = to;
    return this;
  }

  QueueOptionsBuilder deadLetter(long to) {
    deadLetter = to;
    return this;
  }

  QueueOptionsBuilder rate(double to, int bucket) {
    rate = to;
    bucketSize = bucket;
    return this;
  }

  QueueOptionsBuilder maxConcurrent(int to) {
    maxConcurrent = to;
    return this;
  }

  QueueOptionsBuilder keyRate(double to, int bucket) {
    keyRate = to;
    keyBucketSize = bucket;
    return this;
  }

  QueueOptionsBuilder keyMaxConcurrent(int to) {
    keyMaxConcurrent = to;
    return this;
  }

  QueueOptionsBuilder jitter(double to) {
    jitter = to;
    return this;
  }

  QueueOptionsBuilder ordered() {
    orderByKey = true;
    return this;
  }

  QueueOptionsBuilder aging(long to) {
    agingMillis = to;
    return this;
  }

  QueueOptionsBuilder paused(boolean to) {
    paused = to;
    return this;
  }

  QueueOptions build() {
    return new QueueOptions(
        leaseMillis,
        maxAttempts,
        minBackoff,
        maxBackoff,
        maxDoublings,
        ageLimit,
        deadLetter,
        rate,
        bucketSize,
        maxConcurrent,
        keyRate,
        keyBucketSize,
        keyMaxConcurrent,
        orderByKey,
        agingMillis,
        paused,
        null,
        10_000,
        jitter);
  }
}
