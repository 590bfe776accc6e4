package dev.kakehashi.bulk.dump;

import dev.kakehashi.bulk.file.LocationPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which files a dump makes. Immutable.
///
/// @param path null: the bytes go to the stream of the statement
/// @param fileBytes a longer file goes on in the next one; 0: it does not
/// @param partitionBy columns whose values name directories
/// @param overwrites whether files that are there are replaced
public record DumpPlan(
    @Nullable LocationPath path, long fileBytes, List<String> partitionBy, boolean overwrites) {
  public DumpPlan {
    partitionBy = List.copyOf(partitionBy);
  }

  /// Whether there may be several files.
  boolean isMany() {
    return path != null && path.isDirectory();
  }
}
