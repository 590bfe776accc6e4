package dev.kakehashi.tools.shell;

import dev.kakehashi.client.ResultColumn;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A statement that runs. Used by the thread that has started it.
public interface Running extends AutoCloseable {
  /// None: it gives no rows.
  List<ResultColumn> columns();

  /// Whether it is a query, which may give rows without columns.
  boolean isQuery();

  /// The next row batch, valid until the next call; null: it has ended well.
  ///
  /// @throws dev.kakehashi.client.EndpointException it has failed
  @Nullable MemorySegment next() throws IOException;

  /// Rows sent or changed, after its end.
  long rows();

  /// Stops it, if it has not ended.
  @Override
  void close();
}
