package dev.kakehashi.rest.job;

import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A job as it is kept and shown. Immutable. Times are milliseconds since 1970; 0: not yet.
///
/// @param token its name; not for logs
/// @param owner user who has sent it; nobody else reads its result
/// @param text beginning of its statement
/// @param readMillis when its result was last read, or it was last asked for
/// @param rowsScanned so far
/// @param rows sent or changed so far, of a load in batches those that have committed; -1: not known, because the result was lost after the
///     commit, or is something else
/// @param bytes written to files so far
/// @param failure why it has no result; null: it has not failed
/// @param transaction name of the transaction in which it takes effect; empty: none was recorded
/// @param answer kept with it; null: none
/// @param load whether it commits while it runs, as a load in batches does: the name of the load; empty: it has none; null: it has one
///     transaction
/// @param keyed whether it was sent under a key
/// @param deleted whether its owner has deleted it: then it is there for its key alone
public record JobRecord(
    String token,
    String owner,
    String text,
    JobState state,
    ResultState result,
    long createdMillis,
    long startedMillis,
    long endedMillis,
    long readMillis,
    long rowsScanned,
    long rows,
    long bytes,
    @Nullable JobFailure failure,
    String transaction,
    List<JobFile> files,
    @Nullable StoredAnswer answer,
    @Nullable String load,
    boolean keyed,
    boolean deleted) {

  /// Most characters of a statement that are kept.
  public static final int TEXT_CHARACTERS = 400;

  public JobRecord {
    files = List.copyOf(files);
  }

  static JobRecord queued(
      String token,
      String owner,
      String text,
      @Nullable String load,
      long nowMillis,
      boolean keyed) {
    return new JobRecord(
        token,
        owner,
        beginning(text, TEXT_CHARACTERS),
        JobState.QUEUED,
        ResultState.NONE,
        nowMillis,
        0,
        0,
        nowMillis,
        0,
        0,
        0,
        null,
        "",
        List.of(),
        null,
        load,
        keyed,
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

  /// The answer that is kept with it, as the file that it looks like; null: there is none, or one without a body.
  public @Nullable JobFile answerFile() {
    StoredAnswer kept = answer;
    if (kept == null || kept.mediaType().isEmpty()) {
      return null;
    }
    String sha256 = HexFormat.of().formatHex(Sha256.begin().digest(kept.body()));
    return new JobFile(0, "result-1", kept.mediaType(), "", rows, kept.body().length, sha256);
  }

  JobRecord running(long nowMillis) {
    return with(JobState.RUNNING, result, nowMillis, 0, failure, files, answer);
  }

  JobRecord succeeded(long nowMillis, List<JobFile> published, @Nullable StoredAnswer kept) {
    boolean has = !published.isEmpty() || kept != null;
    return with(
        JobState.SUCCEEDED,
        has ? ResultState.AVAILABLE : ResultState.NONE,
        startedMillis,
        nowMillis,
        null,
        published,
        kept);
  }

  /// @param end FAILED, CANCELED or INTERRUPTED
  JobRecord failed(JobState end, JobFailure why, long nowMillis) {
    return with(end, ResultState.NONE, startedMillis, nowMillis, why, List.of(), null);
  }

  /// It has committed, but its result was not kept.
  ///
  /// @param known rows; -1: their number was not kept either
  JobRecord committedWithoutResult(long nowMillis, long known) {
    return new JobRecord(
        token,
        owner,
        text,
        JobState.SUCCEEDED,
        ResultState.LOST,
        createdMillis,
        startedMillis,
        nowMillis,
        nowMillis,
        rowsScanned,
        known,
        bytes,
        null,
        transaction,
        List.of(),
        null,
        load,
        keyed,
        deleted);
  }

  /// @param why EXPIRED or LOST
  JobRecord withoutResult(ResultState why) {
    return with(state, why, startedMillis, endedMillis, failure, List.of(), null);
  }

  JobRecord read(long nowMillis) {
    return new JobRecord(
        token,
        owner,
        text,
        state,
        result,
        createdMillis,
        startedMillis,
        endedMillis,
        Math.max(readMillis, nowMillis),
        rowsScanned,
        rows,
        bytes,
        failure,
        transaction,
        files,
        answer,
        load,
        keyed,
        deleted);
  }

  JobRecord progress(long nowScanned, long nowRows, long nowBytes) {
    return new JobRecord(
        token,
        owner,
        text,
        state,
        result,
        createdMillis,
        startedMillis,
        endedMillis,
        readMillis,
        nowScanned,
        nowRows,
        nowBytes,
        failure,
        transaction,
        files,
        answer,
        load,
        keyed,
        deleted);
  }

  JobRecord withTransaction(String name) {
    return new JobRecord(
        token,
        owner,
        text,
        state,
        result,
        createdMillis,
        startedMillis,
        endedMillis,
        readMillis,
        rowsScanned,
        rows,
        bytes,
        failure,
        name,
        files,
        answer,
        load,
        keyed,
        deleted);
  }

  JobRecord ofLoad(String name) {
    return new JobRecord(
        token,
        owner,
        text,
        state,
        result,
        createdMillis,
        startedMillis,
        endedMillis,
        readMillis,
        rowsScanned,
        rows,
        bytes,
        failure,
        transaction,
        files,
        answer,
        name,
        keyed,
        deleted);
  }

  JobRecord asDeleted() {
    return new JobRecord(
        token,
        owner,
        text,
        state,
        result,
        createdMillis,
        startedMillis,
        endedMillis,
        readMillis,
        rowsScanned,
        rows,
        bytes,
        failure,
        transaction,
        files,
        answer,
        load,
        keyed,
        true);
  }

  JobRecord withoutKey() {
    return new JobRecord(
        token,
        owner,
        text,
        state,
        result,
        createdMillis,
        startedMillis,
        endedMillis,
        readMillis,
        rowsScanned,
        rows,
        bytes,
        failure,
        transaction,
        files,
        answer,
        load,
        false,
        deleted);
  }

  private JobRecord with(
      JobState newState,
      ResultState newResult,
      long started,
      long ended,
      @Nullable JobFailure why,
      List<JobFile> newFiles,
      @Nullable StoredAnswer newAnswer) {
    return new JobRecord(
        token,
        owner,
        text,
        newState,
        newResult,
        createdMillis,
        started,
        ended,
        Math.max(readMillis, ended),
        rowsScanned,
        rows,
        bytes,
        why,
        transaction,
        newFiles,
        newAnswer,
        load,
        keyed,
        deleted);
  }
}
