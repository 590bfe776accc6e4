package dev.kakehashi.queue.push;

/// Outcome of a request.
///
/// @param error empty: the target has done the task
/// @param retryMillis when the target wants to be asked again; negative: it did not say
/// @param overloaded whether the target asks for fewer requests
/// @param forGood whether the target would refuse the same request again
record PushOutcome(String error, long retryMillis, boolean overloaded, boolean forGood) {
  static final PushOutcome DONE = new PushOutcome("", -1, false, false);

  static PushOutcome failed(String error) {
    return new PushOutcome(error, -1, false, false);
  }

  boolean isDone() {
    return error.isEmpty();
  }
}
