package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keys of requests that are no jobs, and what both kinds share. Thread-safe.
final class Keys {
  private static final Logger LOG = LoggerFactory.getLogger(Keys.class);

  private final JobTable table;
  private final Sweeper sweeper;
  private final Set<Hash> inProgress = new HashSet<>(); // guarded by the lock of the table

  Keys(JobTable table, Sweeper sweeper) {
    this.table = table;
    this.sweeper = sweeper;
  }

  static KeyRecord of(KeyedRequest request, String owner, JobRecord job) {
    return new KeyRecord(
        request.id(), request.fingerprint(), owner, job.createdMillis(), job.token(), null, false);
  }

  /// @throws JobRefusal OTHER_REQUEST
  static @Nullable KeyRecord check(@Nullable KeyRecord found, KeyedRequest request) {
    if (found != null && !found.fingerprint().equals(request.fingerprint())) {
      throw otherRequest();
    }
    return found;
  }

  static JobRefusal otherRequest() {
    return new JobRefusal(
        JobRefusal.Reason.OTHER_REQUEST,
        "the key was used for a request with another method, path, meaning or body",
        0);
  }

  KeyClaim claim(String owner, KeyedRequest request, boolean repeatable) {
    KeyRecord key;
    long position;
    boolean isNew;
    table.lock.lock();
    try {
      KeyRecord before = check(table.key(request.id()), request);
      if (before != null && before.answer() != null) {
        return new KeyClaim.Answered(before.answer());
      }
      if (before != null && !before.jobToken().isEmpty()) {
        throw otherRequest();
      }
      if (inProgress.contains(request.id())) {
        throw new JobRefusal(
            JobRefusal.Reason.IN_PROGRESS, "the first request under this key has not ended", 1);
      }
      isNew = before == null;
      if (before == null) {
        table.admitKey(owner, true);
        key =
            new KeyRecord(
                request.id(),
                request.fingerprint(),
                owner,
                table.clock.getAsLong(),
                "",
                null,
                false);
      } else if (repeatable) {
        key = before.again();
      } else {
        throw new JobRefusal(
            JobRefusal.Reason.OUTCOME_UNKNOWN,
            "the endpoint ended during the first request under this key; whether it took effect is not known",
            0);
      }
      position = table.keep(key);
      inProgress.add(key.id());
    } finally {
      table.lock.unlock();
    }
    Claim claim = new Claim(key, isNew);
    try {
      table.force(position);
    } catch (EngineException e) {
      claim.close();
      throw e;
    }
    sweeper.schedule();
    return claim;
  }

  private final class Claim implements KeyClaim.First {
    private final KeyRecord key;
    private final boolean isNew;
    private boolean isEnded; // guarded by the lock of the table

    Claim(KeyRecord key, boolean isNew) {
      this.key = key;
      this.isNew = isNew;
    }

    @Override
    public void complete(StoredAnswer answer) {
      long position;
      table.lock.lock();
      try {
        if (isEnded) {
          throw new IllegalStateException("the claim has ended");
        }
        isEnded = true;
        inProgress.remove(key.id());
        position = table.keep(key.answered(answer));
      } finally {
        table.lock.unlock();
      }
      try {
        table.force(position);
      } catch (EngineException e) {
        // It has taken effect: whoever asks is told so. It is on disk with the next record that is.
        LOG.warn("the answer of a request under a key is not on disk yet", e);
      }
    }

    @Override
    public void leaveUnknown() {
      table.lock.lock();
      try {
        if (!isEnded) {
          isEnded = true;
          inProgress.remove(key.id());
          table.keep(key.lost());
        }
      } finally {
        table.lock.unlock();
      }
    }

    @Override
    public void close() {
      table.lock.lock();
      try {
        if (isEnded) {
          return;
        }
        isEnded = true;
        inProgress.remove(key.id());
        if (isNew) {
          table.remove(key);
        } else {
          table.keep(key.lost());
        }
      } finally {
        table.lock.unlock();
      }
    }
  }
}
