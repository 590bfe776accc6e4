package dev.kakehashi.applications.table;

import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.applications.type.PayloadShape;
import dev.kakehashi.applications.type.RecordShape;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/// Shapes of the classes that a version's code uses. Thread-safe; goes with the version, whose classes it holds.
public final class Shapes {
  private final Map<Class<?>, RecordShape> records = new ConcurrentHashMap<>();
  private final Map<Class<?>, PayloadShape> payloads = new ConcurrentHashMap<>();

  /// @throws EngineFailure a component has no counterpart
  public RecordShape record(Class<?> type) {
    RecordShape known = records.get(type);
    return known != null
        ? known
        : records.computeIfAbsent(
            type, its -> checked(() -> RecordShape.of(its, "row " + its.getSimpleName())));
  }

  /// @throws EngineFailure a component has no counterpart
  public PayloadShape payload(Class<?> type) {
    PayloadShape known = payloads.get(type);
    return known != null
        ? known
        : payloads.computeIfAbsent(
            type, its -> checked(() -> PayloadShape.of(its, "task " + its.getSimpleName())));
  }

  private static <T> T checked(Supplier<T> shape) {
    try {
      return shape.get();
    } catch (EngineException e) {
      throw new EngineFailure(e.sqlstate(), String.valueOf(e.getMessage()), e);
    }
  }
}
