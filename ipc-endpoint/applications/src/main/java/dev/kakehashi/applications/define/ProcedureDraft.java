package dev.kakehashi.applications.define;

import dev.kakehashi.application.Definitions;
import dev.kakehashi.application.Isolation;
import dev.kakehashi.application.ProcedureOptions;
import dev.kakehashi.application.RouteOptions;
import dev.kakehashi.application.TransactionMode;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.ResultShape;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import java.time.Duration;

/// A procedure, or the code of a route, while it is defined.
final class ProcedureDraft implements ProcedureOptions {
  private static final int DEFAULT_RETRIES = 5;
  private static final int MAX_RETRIES = 100;

  private final DefinitionReader reader;
  private final String name;
  private final ArgumentShape argument;
  private final ResultShape result;
  private final boolean isStream;
  private final Definitions.Body<Object, Object> body;
  private TransactionMode transaction;
  private Isolation isolation = Isolation.READ_COMMITTED;
  private int retries = DEFAULT_RETRIES;
  private long timeLimitMillis;
  private boolean isProcessorBound;

  ProcedureDraft(
      DefinitionReader reader,
      String name,
      ArgumentShape argument,
      ResultShape result,
      boolean isStream,
      Definitions.Body<Object, Object> body,
      TransactionMode transaction) {
    this.reader = reader;
    this.name = name;
    this.argument = argument;
    this.result = result;
    this.isStream = isStream;
    this.body = body;
    this.transaction = transaction;
  }

  ProcedureMember member() {
    CallTransaction mode =
        switch (transaction) {
          case REQUIRED -> CallTransaction.REQUIRED;
          case NONE -> CallTransaction.NONE;
          case OWN -> CallTransaction.OWN;
        };
    return new ProcedureMember(
        new ProcedureSignature(
            name,
            argument.fields(),
            result.fields(),
            mode,
            IsolationName.of(isolation),
            retries,
            timeLimitMillis,
            isProcessorBound),
        argument,
        result,
        isStream,
        body);
  }

  @Override
  public ProcedureDraft transaction(TransactionMode mode) {
    reader.checkOpen();
    transaction = mode;
    return this;
  }

  @Override
  public ProcedureDraft isolation(Isolation level) {
    reader.checkOpen();
    isolation = level;
    return this;
  }

  @Override
  public ProcedureDraft retries(int most) {
    reader.checkOpen();
    if (most < 0 || most > MAX_RETRIES) {
      throw Refusals.of("%s: retries(%d) is not in 0 .. %d", name, most, MAX_RETRIES);
    }
    retries = most;
    return this;
  }

  @Override
  public ProcedureDraft timeLimit(Duration limit) {
    reader.checkOpen();
    timeLimitMillis = millis(name, limit);
    return this;
  }

  @Override
  public ProcedureDraft processorBound() {
    reader.checkOpen();
    isProcessorBound = true;
    return this;
  }

  static long millis(String place, Duration limit) {
    if (limit.isNegative() || limit.isZero() || limit.compareTo(Duration.ofDays(1)) > 0) {
      throw Refusals.of("%s: a time of %s is not greater than 0 and at most a day", place, limit);
    }
    return Math.max(1, limit.toMillis());
  }

  /// The same, of a route.
  static final class OfRoute implements RouteOptions {
    private final ProcedureDraft draft;
    final java.util.Map<String, Integer> statuses = new java.util.TreeMap<>();

    OfRoute(ProcedureDraft draft) {
      this.draft = draft;
    }

    ProcedureMember member() {
      return draft.member();
    }

    @Override
    public RouteOptions transaction(TransactionMode mode) {
      draft.transaction(mode);
      return this;
    }

    @Override
    public RouteOptions isolation(Isolation level) {
      draft.isolation(level);
      return this;
    }

    @Override
    public RouteOptions retries(int most) {
      draft.retries(most);
      return this;
    }

    @Override
    public RouteOptions timeLimit(Duration limit) {
      draft.timeLimit(limit);
      return this;
    }

    @Override
    public RouteOptions processorBound() {
      draft.processorBound();
      return this;
    }

    @Override
    public RouteOptions status(Class<?> result, int status) {
      draft.reader.checkOpen();
      if (status < 200 || status > 599) {
        throw Refusals.of("%s: %d is no HTTP status of an answer", draft.name, status);
      }
      statuses.put(result.getSimpleName(), status);
      return this;
    }
  }
}
