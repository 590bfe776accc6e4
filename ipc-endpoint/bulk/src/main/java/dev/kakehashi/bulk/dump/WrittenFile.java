package dev.kakehashi.bulk.dump;

import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.bulk.format.RowsOutput;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/// A file of a dump as one of its writers has it: the file, which they share, and an output of his own. The outputs are used by a thread
/// each.
final class WrittenFile {
  /// State that the writers of a file share.
  ///
  /// @param writers that have not ended
  /// @param rows of those that have
  private record Shared(NewFile file, AtomicInteger writers, AtomicLong rows) {}

  private final Shared shared;
  private final RowsOutput output;

  private WrittenFile(Shared shared, RowsOutput output) {
    this.shared = shared;
    this.output = output;
  }

  /// Begins a file, with one writer.
  static WrittenFile begin(NewFile file, Function<NewFile, RowsOutput> format) {
    return new WrittenFile(
        new Shared(file, new AtomicInteger(1), new AtomicLong()), format.apply(file));
  }

  /// The same file for one more writer, before the others have ended.
  WrittenFile another() {
    WrittenFile other = new WrittenFile(shared, output.another());
    shared.writers.incrementAndGet();
    return other;
  }

  RowsOutput output() {
    return output;
  }

  NewFile file() {
    return shared.file;
  }

  /// Rows of the writers that have ended.
  long rows() {
    return shared.rows.get();
  }

  /// Writes what the writer has left, and gives up his output. The last one makes the file durable.
  ///
  /// @return whether he was the last one
  boolean end() {
    try (output) {
      output.end();
      shared.rows.addAndGet(output.rowCount());
    }
    if (shared.writers.decrementAndGet() > 0) {
      return false;
    }
    shared.file.end();
    return true;
  }
}
