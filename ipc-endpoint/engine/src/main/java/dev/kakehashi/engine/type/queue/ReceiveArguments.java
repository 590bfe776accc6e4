package dev.kakehashi.engine.type.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Arguments of a call of `receive` or `complete_and_receive`.
///
/// @param queue its name, as SQL writes it
/// @param max tasks at most
/// @param leaseMillis 0: the queue's
/// @param group null: the queue has none
/// @param byTime whether the leases end by time only, not with the session
/// @param completed tokens that are completed first
public record ReceiveArguments(
    String queue,
    int max,
    long waitMillis,
    long leaseMillis,
    @Nullable String group,
    boolean byTime,
    List<String> completed) {
  static final String RECEIVE = "receive";
  static final String COMPLETE_AND_RECEIVE = "complete_and_receive";

  private static final long MOST_WAIT_MILLIS = 24L * 3600 * 1000;

  /// Whether it is a function whose rows come before its statement begins.
  public static boolean isOf(String function) {
    return function.equals(RECEIVE) || function.equals(COMPLETE_AND_RECEIVE);
  }

  /// @param words of the arguments
  /// @param nulls which of them are null
  /// @throws EngineException INVALID_PARAMETER_VALUE, NULL_VALUE_NOT_ALLOWED
  public static ReceiveArguments of(String function, long[] words, boolean[] nulls) {
    int first = function.equals(RECEIVE) ? 0 : 1;
    List<String> completed = new ArrayList<>();
    if (first == 1 && !nulls[0]) {
      for (String token : ArrayTypes.array(words[0]).elements()) {
        if (token == null) {
          throw new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, "the token must not be null");
        }
        completed.add(token);
      }
    }
    if (nulls[first]) {
      throw new EngineException(
          ErrorCode.NULL_VALUE_NOT_ALLOWED, "the name of the queue must not be null");
    }
    long max = nulls[first + 1] ? 1 : words[first + 1];
    if (max < 1 || max > ReceiveRequest.MAX_TASKS) {
      throw invalid("max must be between 1 and " + ReceiveRequest.MAX_TASKS);
    }
    long wait = nulls[first + 2] ? 0 : QueueDurations.millis("wait", words[first + 2]);
    if (wait > MOST_WAIT_MILLIS) {
      throw invalid("wait must be at most " + QueueDurations.text(MOST_WAIT_MILLIS));
    }
    long lease = nulls[first + 3] ? 0 : QueueDurations.millis("a lease", words[first + 3]);
    if (!nulls[first + 3] && lease < 1) {
      throw invalid("a lease must be longer than 0");
    }
    String hold = nulls[first + 5] ? "session" : Varlena.string(words[first + 5]);
    if (!hold.equals("session") && !hold.equals("time")) {
      throw invalid("invalid value for hold: \"" + hold + "\"")
          .withHint("It is 'session' or 'time'.");
    }
    return new ReceiveArguments(
        Varlena.string(words[first]),
        (int) max,
        wait,
        lease,
        nulls[first + 4] ? null : Varlena.string(words[first + 4]),
        hold.equals("time"),
        completed);
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }
}
