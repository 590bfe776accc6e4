package dev.kakehashi.rest.job;

import org.jspecify.annotations.Nullable;

/// Record of a key. Immutable.
///
/// @param id of user and key
/// @param fingerprint of the request: a different one under the same key is refused
/// @param jobToken of the job that is its effect; empty: it is no job
/// @param answer of a request that is no job; null: it has not ended
/// @param isLost whether the endpoint ended before a request that is no job
record KeyRecord(
    Hash id,
    Hash fingerprint,
    String owner,
    long createdMillis,
    String jobToken,
    @Nullable StoredAnswer answer,
    boolean isLost) {

  KeyRecord answered(StoredAnswer given) {
    return new KeyRecord(id, fingerprint, owner, createdMillis, jobToken, given, false);
  }

  KeyRecord lost() {
    return new KeyRecord(id, fingerprint, owner, createdMillis, jobToken, null, true);
  }

  KeyRecord again() {
    return new KeyRecord(id, fingerprint, owner, createdMillis, jobToken, null, false);
  }
}
