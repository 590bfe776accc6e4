package dev.kakehashi.engine.store.log;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A layer that is a [SideFile], whose changes are in the order of their keys. Only the first key of each piece is in memory.
final class OfflineFile implements OfflineLog.Layer {
  private final SideFiles files;
  private final SideFile file;

  /// Where the pieces are, by their first keys.
  private final TreeMap<byte[], Long> pieces = new TreeMap<>(Arrays::compareUnsigned);

  private byte[] last = {};

  /// Reads all of the file.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  OfflineFile(SideFiles files, SideFile file) throws IOException {
    this.files = files;
    this.file = file;
    files.read(file, this::index);
  }

  private void index(long at, LogRecord piece) {
    for (Change change : changesOf(piece)) {
      if (Arrays.compareUnsigned(change.key(), last) <= 0) {
        throw LogReader.corrupted(
            "changes of file \"%s\" of the log are in no order".formatted(path()));
      }
      if (pieces.isEmpty() || at > pieces.lastEntry().getValue()) {
        pieces.put(change.key(), at);
      }
      last = change.key();
    }
  }

  private java.nio.file.Path path() {
    return files.path(file.number());
  }

  private List<Change> changesOf(LogRecord piece) {
    List<Change> found = new ArrayList<>(piece.count());
    try {
      piece.forEach(
          new LogRecord.Changes() {
            @Override
            public void put(byte[] key, byte[] value) {
              found.add(new Change(key, value));
            }

            @Override
            public void delete(byte[] key) {
              found.add(new Change(key, null));
            }

            @Override
            public void deleteRange(byte[] from, byte[] to) {
              throw new IllegalArgumentException("a range is deleted");
            }
          });
    } catch (IllegalArgumentException e) {
      throw LogReader.corrupted(
          "file \"%s\" of the log cannot be read: %s".formatted(path(), e.getMessage()));
    }
    return found;
  }

  private List<Change> piece(long at) {
    try {
      return changesOf(files.readPiece(file, at));
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read \"" + path() + "\"", e);
    }
  }

  @Override
  public Cursor changes(byte[] from, byte[] to) {
    return new FileCursor(from, to);
  }

  private final class FileCursor implements Cursor {
    private final byte[] to;
    private Map.@Nullable Entry<byte[], Long> piece;
    private List<Change> changes = List.of();
    private int next;

    FileCursor(byte[] from, byte[] to) {
      this.to = to;
      Map.Entry<byte[], Long> first = pieces.floorEntry(from);
      piece = first == null ? pieces.firstEntry() : first;
      enter();
      while (change() != null
          && Arrays.compareUnsigned(Objects.requireNonNull(change()).key(), from) < 0) {
        advance();
      }
    }

    private void enter() {
      next = 0;
      boolean wanted = piece != null && Arrays.compareUnsigned(piece.getKey(), to) < 0;
      changes = wanted ? piece(Objects.requireNonNull(piece).getValue()) : List.of();
    }

    @Override
    public @Nullable Change change() {
      if (next >= changes.size()) {
        return null;
      }
      Change change = changes.get(next);
      return Arrays.compareUnsigned(change.key(), to) < 0 ? change : null;
    }

    @Override
    public void advance() {
      next++;
      if (next >= changes.size() && piece != null) {
        piece = pieces.higherEntry(piece.getKey());
        enter();
      }
    }
  }

  @Override
  public @Nullable Change find(byte[] key) {
    Map.Entry<byte[], Long> piece = pieces.floorEntry(key);
    if (piece == null) {
      return null;
    }
    for (Change change : piece(piece.getValue())) {
      if (Arrays.equals(change.key(), key)) {
        return change;
      }
    }
    return null;
  }

  @Override
  public byte @Nullable [] lastKey(byte[] from, byte[] to) {
    Map.Entry<byte[], Long> piece = pieces.lowerEntry(to);
    if (piece == null) {
      return null;
    }
    byte[] found = null;
    for (Change change : piece(piece.getValue())) {
      if (Arrays.compareUnsigned(change.key(), to) < 0) {
        found = change.key();
      }
    }
    return found == null || Arrays.compareUnsigned(found, from) < 0 ? null : found;
  }

  @Override
  public byte @Nullable [] deletedFrom(byte[] key) {
    return null;
  }
}
