package dev.kakehashi.rest.job;

import java.time.Duration;

/// Limits of jobs, their files and keys.
///
/// @param retention how long a result is kept after it was last read
/// @param keyRetention how long a key is kept after it was first used
/// @param jobs most jobs of all users
/// @param jobsPerUser most jobs of a user that wait, run, or have a result
/// @param runningPerUser most jobs of a user that run at a time; others wait
/// @param keys most keys of all users
/// @param keysPerUser most keys of a user
/// @param bytes most bytes of all files of results
/// @param bytesPerUser most bytes of a user's files
/// @param fileBytes after so many bytes a long result goes on in its next file
public record JobSettings(
    Duration retention,
    Duration keyRetention,
    int jobs,
    int jobsPerUser,
    int runningPerUser,
    int keys,
    int keysPerUser,
    long bytes,
    long bytesPerUser,
    long fileBytes) {

  public JobSettings {
    if (retention.isNegative() || keyRetention.isNegative()) {
      throw new IllegalArgumentException("times must not be negative");
    }
    if (jobs < 1 || jobsPerUser < 1 || runningPerUser < 1 || keys < 1 || keysPerUser < 1) {
      throw new IllegalArgumentException("numbers of jobs and keys must be at least 1");
    }
    if (bytes < 1 || bytesPerUser < 1 || fileBytes < 1) {
      throw new IllegalArgumentException("sizes must be at least 1 byte");
    }
  }

  public static JobSettings defaults() {
    return new JobSettings(
        Duration.ofHours(1),
        Duration.ofDays(1),
        10_000,
        1_000,
        4,
        50_000,
        20_000,
        64L << 30,
        16L << 30,
        1L << 30);
  }
}
