package dev.kakehashi.applications.function;

import dev.kakehashi.application.Aggregate;
import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.JavaType;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An aggregate. Used by one task at a time.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
final class UserAggregate implements AggregateCode {
  private final FunctionRun run;
  private final ArgumentShape shape;
  private final JavaType result;
  private final Aggregate<Object, Object, Object> body;
  private final @Nullable Object[] values;

  UserAggregate(
      FunctionRun run,
      ArgumentShape shape,
      JavaType result,
      Aggregate<Object, Object, Object> body) {
    this.run = run;
    this.shape = shape;
    this.result = result;
    this.body = body;
    values = new Object[shape.fields().size()];
  }

  @Override
  public Object begin() {
    return run.call(0, () -> state(body.begin()));
  }

  @Override
  public Object add(Object state, @Nullable Object[][] arguments, int count) {
    return run.call(
        count,
        () -> {
          Object now = state;
          for (int i = 0; i < count; i++) {
            run.check();
            for (int p = 0; p < values.length; p++) {
              values[p] = arguments[p][i];
            }
            now = state(body.add(now, made(arguments, i)));
          }
          return now;
        });
  }

  @Override
  public Object merge(Object state, Object other) {
    return run.call(0, () -> state(body.merge(state, other)));
  }

  @Override
  public @Nullable Object result(Object state) {
    return run.call(0, () -> result.toSql(body.result(state)));
  }

  private @Nullable Object made(@Nullable Object[][] arguments, int row) throws Throwable {
    try {
      return shape.make(values);
    } catch (EngineException e) {
      throw run.atRow(e, arguments, row);
    }
  }

  private static Object state(@Nullable Object state) {
    return Objects.requireNonNull(state, "state of an aggregate");
  }
}
