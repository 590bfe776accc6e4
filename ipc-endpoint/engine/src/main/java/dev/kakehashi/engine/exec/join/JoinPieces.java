package dev.kakehashi.engine.exec.join;

import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Right rows of a join that are in files: hands them out as tables, again and again, each time in the same pieces (block nested loop).
/// Confined to one task.
final class JoinPieces implements AutoCloseable {
  private final JoinBreaker breaker;
  private final List<SpillFile> files;
  private final MemoryAccount memory;
  private final VectorBatch batch;

  /// Pieces that were handed out before: how many rows each has, and which of them have found a match.
  private final List<Integer> sizes = new ArrayList<>();

  private final List<long[]> matched = new ArrayList<>();

  private int file;
  private SpillFile.@Nullable Reader reader;
  private int piece;
  private @Nullable JoinTable table;

  /// Whether the batch has rows of the next piece.
  private boolean more;

  /// @param memory of the user who reads them
  JoinPieces(JoinBreaker breaker, List<SpillFile> files, int columns, MemoryAccount memory) {
    this.breaker = breaker;
    this.files = files;
    this.memory = memory;
    this.batch = new VectorBatch(columns);
  }

  /// Goes to the first piece, which is empty if there are no rows.
  void rewind() {
    if (table != null && isOnly()) {
      return;
    }
    file = 0;
    reader = null;
    piece = 0;
    more = fill();
    load();
  }

  /// Whether there is one piece only.
  boolean isOnly() {
    return piece == 0 && !more;
  }

  /// Goes to the next piece; false if there is none: then the last one stays.
  boolean next() {
    if (!more) {
      return false;
    }
    piece++;
    load();
    return true;
  }

  private void load() {
    closeTable();
    JoinTable loaded = breaker.newTable(memory);
    table = loaded;
    while (more && !isFull(loaded)) {
      loaded.rows().append(batch);
      more = fill();
    }
    loaded.build();
    if (piece < matched.size()) {
      loaded.setMatches(matched.get(piece));
    } else {
      sizes.add(loaded.rows().size());
      matched.add(loaded.matches());
    }
  }

  /// The first time the memory decides, and then the pieces stay as they are.
  private boolean isFull(JoinTable loaded) {
    return piece < sizes.size()
        ? loaded.rows().size() >= sizes.get(piece)
        : loaded.bytes() > memory.room() / 2;
  }

  private boolean fill() {
    while (true) {
      memory.checkCanceled();
      SpillFile.Reader from = reader;
      if (from == null) {
        if (file == files.size()) {
          return false;
        }
        from = files.get(file++).reader();
        reader = from;
      }
      if (from.fill(batch)) {
        return true;
      }
      reader = null;
    }
  }

  JoinTable table() {
    JoinTable present = table;
    if (present == null) {
      throw new IllegalStateException("there is no piece");
    }
    return present;
  }

  private void closeTable() {
    if (table != null) {
      table.close();
      table = null;
    }
  }

  @Override
  public void close() {
    closeTable();
    batch.close();
  }
}
