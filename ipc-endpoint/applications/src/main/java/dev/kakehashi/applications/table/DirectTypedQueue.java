package dev.kakehashi.applications.table;

import dev.kakehashi.application.TypedQueue;
import dev.kakehashi.applications.type.PayloadShape;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;

/// A queue in the transaction of a call.
public final class DirectTypedQueue<T> implements TypedQueue<T> {
  private final EngineBracket engine;
  private final String name;
  private final PayloadShape shape;

  public DirectTypedQueue(EngineBracket engine, String name, PayloadShape shape) {
    this.engine = engine;
    this.name = name;
    this.shape = shape;
  }

  @Override
  public long add(T payload) {
    return add(payload, Options.NONE);
  }

  @Override
  public long add(T payload, Options options) {
    Payload written;
    try {
      written = shape.write(payload);
    } catch (Throwable t) {
      throw Rethrown.unchecked(t);
    }
    long runAt =
        options.delay().isZero()
            ? 0
            : Math.addExact(System.currentTimeMillis(), options.delay().toMillis());
    NewTask task =
        new NewTask(
            written,
            options.key().orElse(null),
            options.fairKey().orElse(null),
            options.priority(),
            runAt,
            options.uniqueKey().orElse(null),
            0);
    return engine.use(access -> access.enqueue(name, task));
  }
}
