package dev.kakehashi.rest.problem;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes problems of what was thrown. Stateless.
public final class Problems {
  private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

  private Problems() {}

  /// Problem that the client gets for a failure of his request.
  public static Problem of(Throwable failure) {
    return switch (failure) {
      case Problem problem -> problem;
      case EngineException engine -> Problem.of(engine);
      default -> internal(failure);
    };
  }

  /// 500 that tells the client an id alone. The log has the id with the stack.
  public static Problem internal(Throwable failure) {
    String id = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    LOG.error("internal error {} while a request was handled", id, failure);
    return Problem.of(
            500,
            "internal-error",
            "Internal error",
            "internal error; the endpoint's log has it under id " + id)
        .withId(id);
  }
}
