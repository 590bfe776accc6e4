package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.engine.api.bulk.BulkContext;
import java.util.Arrays;
import java.util.List;

/// Rows of a column of intervals, or of lists of them, that are structures of three members.
final class IntervalReader implements ColumnReader {
  private static final int BYTES = 16;
  private static final int DAYS_AT = 4;
  private static final int MICROS_AT = 8;
  private final List<ColumnReader> members;
  private final FileValues[] parts = new FileValues[3];
  private final boolean lists;
  private final ReadSpace joined;

  /// @param members months, days, microseconds
  IntervalReader(List<ColumnReader> members, boolean lists, BulkContext context) {
    this.members = members;
    this.lists = lists;
    this.joined = new ReadSpace(context);
    for (int i = 0; i < parts.length; i++) {
      FileType type = FileType.integer(64, true);
      parts[i] = new FileValues(lists ? FileType.list(type) : type);
    }
  }

  @Override
  public int ready(int wanted) {
    return wanted;
  }

  @Override
  public void read(int rows, FileValues into) {
    into.begin(rows);
    for (int i = 0; i < parts.length; i++) {
      members.get(i).read(rows, parts[i]);
    }
    copyNulls(parts, into);
    if (!lists) {
      join(parts, into);
      return;
    }
    for (FileValues part : parts) {
      boolean same =
          Arrays.equals(part.starts(), 0, rows, parts[0].starts(), 0, rows)
              && Arrays.equals(part.lengths(), 0, rows, parts[0].lengths(), 0, rows);
      if (!same) {
        throw disagree();
      }
    }
    System.arraycopy(parts[0].starts(), 0, into.starts(), 0, rows);
    System.arraycopy(parts[0].lengths(), 0, into.lengths(), 0, rows);
    FileValues[] items = {parts[0].items(), parts[1].items(), parts[2].items()};
    into.items().begin(items[0].count());
    copyNulls(items, into.items());
    join(items, into.items());
  }

  private static RuntimeException disagree() {
    return Damage.of("members of an interval are not there together");
  }

  private static void copyNulls(FileValues[] from, FileValues into) {
    int count = from[0].count();
    for (FileValues each : from) {
      boolean same =
          each.count() == count
              && each.hasNulls() == from[0].hasNulls()
              && (!each.hasNulls()
                  || Arrays.equals(each.present(), 0, count, from[0].present(), 0, count));
      if (!same) {
        throw disagree();
      }
    }
    if (from[0].hasNulls()) {
      System.arraycopy(from[0].present(), 0, into.markNulls(), 0, count);
    }
  }

  private void join(FileValues[] from, FileValues into) {
    int count = into.count();
    byte[] bytes = joined.room((long) BYTES * count);
    for (int i = 0; i < count; i++) {
      int at = BYTES * i;
      PlainDecoder.INTS.set(bytes, at, (int) from[0].longs()[i]);
      PlainDecoder.INTS.set(bytes, at + DAYS_AT, (int) from[1].longs()[i]);
      PlainDecoder.LONGS.set(bytes, at + MICROS_AT, from[2].longs()[i]);
      into.starts()[i] = at;
      into.lengths()[i] = BYTES;
    }
    into.setBytes(bytes);
  }

  @Override
  public long readBytes() {
    long read = 0;
    for (ColumnReader member : members) {
      read += member.readBytes();
    }
    return read;
  }

  @Override
  public void close() {
    members.forEach(ColumnReader::close);
    joined.close();
  }
}
