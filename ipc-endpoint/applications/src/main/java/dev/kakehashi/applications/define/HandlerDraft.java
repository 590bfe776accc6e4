package dev.kakehashi.applications.define;

import dev.kakehashi.application.Definitions;
import dev.kakehashi.application.HandlerOptions;
import dev.kakehashi.application.Isolation;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.applications.type.PayloadShape;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;
import java.time.Duration;

/// A handler while it is defined.
final class HandlerDraft implements HandlerOptions {
  private static final int MAX_CONCURRENCY = 1_000;

  private final DefinitionReader reader;
  private final String queue;
  private final PayloadShape payload;
  private final Definitions.Handler<Object> body;
  private int concurrency = 1;
  private long leaseMillis;
  private String group = "";
  private Isolation isolation = Isolation.READ_COMMITTED;
  private long timeLimitMillis;

  HandlerDraft(
      DefinitionReader reader,
      String queue,
      PayloadShape payload,
      Definitions.Handler<Object> body) {
    this.reader = reader;
    this.queue = queue;
    this.payload = payload;
    this.body = body;
  }

  HandlerMember member() {
    return new HandlerMember(
        new HandlerSignature(
            queue, group, concurrency, leaseMillis, IsolationName.of(isolation), timeLimitMillis),
        payload,
        body);
  }

  @Override
  public HandlerOptions concurrency(int most) {
    reader.checkOpen();
    if (most < 1 || most > MAX_CONCURRENCY) {
      throw Refusals.of(
          "handler %s: concurrency(%d) is not in 1 .. %d", queue, most, MAX_CONCURRENCY);
    }
    concurrency = most;
    return this;
  }

  @Override
  public HandlerOptions lease(Duration lease) {
    reader.checkOpen();
    leaseMillis = ProcedureDraft.millis("handler " + queue, lease);
    return this;
  }

  @Override
  public HandlerOptions group(String name) {
    reader.checkOpen();
    group = name;
    return this;
  }

  @Override
  public HandlerOptions isolation(Isolation level) {
    reader.checkOpen();
    isolation = level;
    return this;
  }

  @Override
  public HandlerOptions timeLimit(Duration limit) {
    reader.checkOpen();
    timeLimitMillis = ProcedureDraft.millis("handler " + queue, limit);
    return this;
  }
}
