package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.ArrayList;
import java.util.List;

/// Sorted runs of rows in files, the oldest first; of equal rows those of the older run come first.
///
/// So that few files are open, neighbours of the same size class are merged when there are enough of them: each row is written once for
/// each power of their number that the runs reach. Confined to one task at a time.
public final class SortedFiles implements AutoCloseable {
  /// Most runs that are merged at a time.
  private static final int MOST_MERGED = 64;

  private final ColumnKind[] kinds;
  private final RowOrder order;
  private final MemoryAccount memory;

  /// Rows of a file that anybody wants.
  private final long keep;

  private final List<SpillFile> files = new ArrayList<>();

  /// How often the rows of each file have been merged.
  private final List<Integer> merges = new ArrayList<>();

  /// @param keep rows of each run that are wanted
  public SortedFiles(ColumnKind[] kinds, RowOrder order, MemoryAccount memory, long keep) {
    this.kinds = kinds;
    this.order = order;
    this.memory = memory;
    this.keep = keep;
  }

  public boolean isEmpty() {
    return files.isEmpty();
  }

  public int size() {
    return files.size();
  }

  /// Begins a run: rows are to be appended in their order, then [#end()].
  public SpillFile begin() {
    SpillFile file = memory.newFile(kinds);
    files.add(file);
    merges.add(0);
    return file;
  }

  /// The run that was begun last has all its rows.
  public void end() {
    files.getLast().finish();
    int most = Math.min(memory.mostReaders(), MOST_MERGED);
    while (files.size() >= most && merges.get(files.size() - most).equals(merges.getLast())) {
      mergeLast(most);
    }
  }

  /// Takes over the runs of another one, as the youngest.
  public void take(SortedFiles other) {
    files.addAll(other.files);
    merges.addAll(other.merges);
    other.files.clear();
    other.merges.clear();
  }

  /// Merges runs until they can be read at the same time.
  public void reduce() {
    int most = memory.mostReaders();
    while (files.size() > most) {
      mergeLast(Math.min(most, files.size() - most + 1));
    }
  }

  private void mergeLast(int count) {
    int first = files.size() - count;
    int level = 0;
    for (int i = first; i < files.size(); i++) {
      level = Math.max(level, merges.get(i) + 1);
    }
    List<SpillFile> from = List.copyOf(files.subList(first, files.size()));
    SpillFile merged = begin();
    write(new SortedRows.Merge(inputs(from, memory.bufferBytes()), order::compare), merged);
    merged.finish();
    files.removeAll(from);
    merges.subList(first, merges.size()).clear();
    merges.add(level);
    from.forEach(SpillFile::close);
  }

  private void write(SortedRows.Merge rows, SpillFile to) {
    ColumnVector[] row = new ColumnVector[kinds.length];
    for (int c = 0; c < row.length; c++) {
      row[c] = new ColumnVector(1);
    }
    SortedRows next = rows.next();
    for (long count = 0; next != null && count < keep; count++) {
      memory.checkCanceled(count);
      next.show(row);
      to.append(row, 0);
      next = rows.next();
    }
  }

  /// Each run's rows.
  ///
  /// @param buffer bytes of each one's buffer
  public List<SortedRows> inputs(int buffer) {
    return inputs(files, buffer);
  }

  /// All rows in their order.
  ///
  /// @param buffer bytes of each run's buffer
  public SortedRows.Merge merge(int buffer) {
    return new SortedRows.Merge(inputs(buffer), order::compare);
  }

  private static List<SortedRows> inputs(List<SpillFile> files, int buffer) {
    List<SortedRows> inputs = new ArrayList<>();
    files.forEach(file -> inputs.add(SortedRows.of(file, buffer)));
    return inputs;
  }

  @Override
  public void close() {
    files.forEach(SpillFile::close);
    files.clear();
    merges.clear();
  }
}
