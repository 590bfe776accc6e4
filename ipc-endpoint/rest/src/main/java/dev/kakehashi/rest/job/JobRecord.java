package dev.kakehashi.rest.job;

import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A job as it is kept and shown. Immutable.
///
/// @param transaction name of the transaction in which it takes effect; empty: none was recorded
/// @param deleted whether its owner has deleted it: then it is there for its key alone
public record JobRecord(
    Order order,
    Outcome outcome,
    Times times,
    Progress progress,
    String transaction,
    boolean deleted) {

  /// Most characters of a statement that are kept.
  public static final int TEXT_CHARACTERS = 400;

  /// The request of its user.
  ///
  /// @param token name of the job; not for logs
  /// @param owner user who has sent it; nobody else reads its result
  /// @param text beginning of its statement
  /// @param load whether it commits while it runs, as a load in batches does: the name of the load; empty: it has none; null: it has one
  ///     transaction
  /// @param keyed whether it was sent under a key
  public record Order(
      String token, String owner, String text, @Nullable String load, boolean keyed) {}

  /// State and result.
  ///
  /// @param failure why it has no result; null: it has not failed
  /// @param answer kept with it; null: none
  public record Outcome(
      JobState state,
      ResultState result,
      @Nullable JobFailure failure,
      List<JobFile> files,
      @Nullable StoredAnswer answer) {
    public Outcome {
      files = List.copyOf(files);
    }

    private static Outcome without(
        JobState state, ResultState result, @Nullable JobFailure failure) {
      return new Outcome(state, result, failure, List.of(), null);
    }
  }

  /// Milliseconds since 1970; 0: not yet.
  ///
  /// @param readMillis when its result was last read, or it was last asked for
  public record Times(long createdMillis, long startedMillis, long endedMillis, long readMillis) {
    private Times started(long nowMillis) {
      return new Times(createdMillis, nowMillis, 0, readMillis);
    }

    private Times ended(long nowMillis) {
      return new Times(createdMillis, startedMillis, nowMillis, Math.max(readMillis, nowMillis));
    }

    private Times read(long nowMillis) {
      return new Times(createdMillis, startedMillis, endedMillis, Math.max(readMillis, nowMillis));
    }
  }

  /// How far it is.
  ///
  /// @param rows sent or changed so far, of a load in batches those that have committed; -1: not known, because the result was lost after
  ///     the commit, or is something else
  /// @param bytes written to files so far
  public record Progress(long rowsScanned, long rows, long bytes) {}

  static JobRecord queued(
      String token,
      String owner,
      String text,
      @Nullable String load,
      long nowMillis,
      boolean keyed) {
    return new JobRecord(
        new Order(token, owner, beginning(text, TEXT_CHARACTERS), load, keyed),
        Outcome.without(JobState.QUEUED, ResultState.NONE, null),
        new Times(nowMillis, 0, 0, nowMillis),
        new Progress(0, 0, 0),
        "",
        false);
  }

  /// A text, cut off if it has more characters.
  static String beginning(String text, int characters) {
    if (text.length() <= characters) {
      return text;
    }
    int end = characters - 1;
    if (Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(0, end) + "…";
  }

  public String token() {
    return order.token;
  }

  public String owner() {
    return order.owner;
  }

  public String text() {
    return order.text;
  }

  public @Nullable String load() {
    return order.load;
  }

  public boolean keyed() {
    return order.keyed;
  }

  public JobState state() {
    return outcome.state;
  }

  public ResultState result() {
    return outcome.result;
  }

  public @Nullable JobFailure failure() {
    return outcome.failure;
  }

  public List<JobFile> files() {
    return outcome.files;
  }

  public @Nullable StoredAnswer answer() {
    return outcome.answer;
  }

  public long createdMillis() {
    return times.createdMillis;
  }

  public long startedMillis() {
    return times.startedMillis;
  }

  public long endedMillis() {
    return times.endedMillis;
  }

  public long readMillis() {
    return times.readMillis;
  }

  public long rowsScanned() {
    return progress.rowsScanned;
  }

  public long rows() {
    return progress.rows;
  }

  public long bytes() {
    return progress.bytes;
  }

  /// The answer that is kept with it, as the file that it looks like; null: there is none, or one without a body.
  public @Nullable JobFile answerFile() {
    StoredAnswer kept = answer();
    if (kept == null || kept.mediaType().isEmpty()) {
      return null;
    }
    String sha256 = HexFormat.of().formatHex(Sha256.begin().digest(kept.body()));
    return new JobFile(0, "result-1", kept.mediaType(), "", rows(), kept.body().length, sha256);
  }

  JobRecord running(long nowMillis) {
    Outcome running = new Outcome(JobState.RUNNING, result(), failure(), files(), answer());
    return with(running, times.started(nowMillis));
  }

  JobRecord succeeded(long nowMillis, List<JobFile> published, @Nullable StoredAnswer kept) {
    boolean has = !published.isEmpty() || kept != null;
    ResultState result = has ? ResultState.AVAILABLE : ResultState.NONE;
    return with(
        new Outcome(JobState.SUCCEEDED, result, null, published, kept), times.ended(nowMillis));
  }

  /// @param end FAILED, CANCELED or INTERRUPTED
  JobRecord failed(JobState end, JobFailure why, long nowMillis) {
    return with(Outcome.without(end, ResultState.NONE, why), times.ended(nowMillis));
  }

  /// It has committed, but its result was not kept.
  ///
  /// @param known rows; -1: their number was not kept either
  JobRecord committedWithoutResult(long nowMillis, long known) {
    return progress(rowsScanned(), known, bytes())
        .with(Outcome.without(JobState.SUCCEEDED, ResultState.LOST, null), times.ended(nowMillis));
  }

  /// @param why EXPIRED or LOST
  JobRecord withoutResult(ResultState why) {
    return with(Outcome.without(state(), why, failure()), times.read(endedMillis()));
  }

  JobRecord read(long nowMillis) {
    return with(outcome, times.read(nowMillis));
  }

  JobRecord progress(long nowScanned, long nowRows, long nowBytes) {
    Progress now = new Progress(nowScanned, nowRows, nowBytes);
    return new JobRecord(order, outcome, times, now, transaction, deleted);
  }

  JobRecord withTransaction(String name) {
    return new JobRecord(order, outcome, times, progress, name, deleted);
  }

  JobRecord ofLoad(String name) {
    return with(new Order(token(), owner(), text(), name, keyed()));
  }

  JobRecord asDeleted() {
    return new JobRecord(order, outcome, times, progress, transaction, true);
  }

  JobRecord withoutKey() {
    return with(new Order(token(), owner(), text(), load(), false));
  }

  private JobRecord with(Order other) {
    return new JobRecord(other, outcome, times, progress, transaction, deleted);
  }

  private JobRecord with(Outcome now, Times at) {
    return new JobRecord(order, now, at, progress, transaction, deleted);
  }
}
