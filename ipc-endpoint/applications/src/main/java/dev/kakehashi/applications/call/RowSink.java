package dev.kakehashi.applications.call;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows that a call gives, up to its limits. Rows of a transaction of the platform are kept until it has committed; others go on at once.
/// Used by the call's thread.
final class RowSink {
  private static final int WORD = 8;

  private final ApplicationOptions limits;
  private final LoadedApplication.Listener listener;
  private final boolean keeps;
  private final List<@Nullable Object[]> kept = new ArrayList<>();
  private long rows;
  private long bytes;

  RowSink(ApplicationOptions limits, LoadedApplication.Listener listener, boolean keeps) {
    this.limits = limits;
    this.listener = listener;
    this.keeps = keeps;
  }

  /// @throws EngineException LIMIT_EXCEEDED
  void add(@Nullable Object[] row) {
    rows++;
    for (Object value : row) {
      bytes += size(value);
    }
    if (rows > limits.maxRows()) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "the call gives more than " + limits.maxRows() + " rows, max_rows");
    }
    if (bytes > limits.maxBytes()) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "the rows of the call have more than " + limits.maxBytes() + " bytes, max_bytes");
    }
    if (keeps) {
      kept.add(row);
    } else {
      listener.row(row);
    }
  }

  /// The transaction is tried again.
  void clear() {
    kept.clear();
    rows = 0;
    bytes = 0;
  }

  /// The transaction has committed.
  void flush() {
    kept.forEach(listener::row);
    kept.clear();
  }

  private static long size(@Nullable Object value) {
    return switch (value) {
      case null -> 0;
      case String text -> text.length();
      case byte[] array -> array.length;
      case BigDecimal number -> WORD + number.precision() / 2;
      case Object[] elements -> {
        long sum = WORD;
        for (Object element : elements) {
          sum += size(element);
        }
        yield sum;
      }
      default -> WORD;
    };
  }
}
