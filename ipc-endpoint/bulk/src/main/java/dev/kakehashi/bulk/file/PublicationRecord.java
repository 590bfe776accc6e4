package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Steps that a publication of several files is about to do, in its mark. A sweep that finds the mark of a process that died in the middle
/// goes on with them. Immutable.
///
/// Lines of UTF-8: a head, `N number path` for a file that gets its name, `R path` for one that goes, and an end with a checksum. Paths are
/// those below the location, and have no control characters.
///
/// @param replaces whether files of the names are replaced
record PublicationRecord(boolean replaces, List<Named> named, List<LocationPath> removed) {
  /// A file of the mark, and its name.
  record Named(String temporaryName, LocationPath path) {}

  private static final String HEAD = "kakehashi publication 1 ";
  private static final String NEW = "new";
  private static final String REPLACE = "replace";
  private static final String NAMED = "N ";
  private static final String REMOVED = "R ";
  private static final String END = "E ";

  /// More than any dump has.
  private static final int MAX_BYTES = 256 << 20;

  PublicationRecord {
    named = List.copyOf(named);
    removed = List.copyOf(removed);
  }

  /// Whether a process that dies in the middle leaves more than nothing and less than all.
  boolean isNeeded() {
    return named.size() + removed.size() > 1;
  }

  /// Puts it into a mark, and returns when it survives power loss there.
  ///
  /// @param mark open for writing
  /// @throws EngineException DISK_FULL, IO_ERROR
  void write(int mark, String location) {
    StringBuilder text = new StringBuilder(HEAD).append(replaces ? REPLACE : NEW).append('\n');
    for (Named each : named) {
      String number = each.temporaryName.substring(each.temporaryName.lastIndexOf('-') + 1);
      text.append(NAMED).append(number).append(' ').append(below(each.path)).append('\n');
    }
    for (LocationPath each : removed) {
      text.append(REMOVED).append(below(each)).append('\n');
    }
    String checksum = checksum(text.toString());
    text.append(END).append(checksum).append('\n');
    ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
    try (FileChannel channel = channel(mark, StandardOpenOption.WRITE)) {
      while (bytes.hasRemaining()) {
        channel.write(bytes, bytes.position());
      }
      channel.force(true);
    } catch (IOException e) {
      throw FileFailure.of("could not write to location", location, e);
    }
  }

  /// Empties a mark: nobody goes on.
  ///
  /// @throws EngineException IO_ERROR
  static void forget(int mark, String location) {
    try (FileChannel channel = channel(mark, StandardOpenOption.WRITE)) {
      channel.truncate(0);
      channel.force(true);
    } catch (IOException e) {
      throw FileFailure.of("could not write to location", location, e);
    }
  }

  /// Record of a mark; null: it is not whole, so none of its steps was begun.
  ///
  /// @param mark open for reading
  /// @param name of the mark
  /// @throws EngineException IO_ERROR
  static @Nullable PublicationRecord read(int mark, String name, BulkLocation location) {
    String text;
    try (FileChannel channel = channel(mark, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size == 0 || size > MAX_BYTES) {
        return null;
      }
      ByteBuffer bytes = ByteBuffer.allocate((int) size);
      while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
        // until all is there
      }
      text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw FileFailure.of("could not read location", location.name(), e);
    }
    int end = text.lastIndexOf(END);
    if (end < 0 || !text.substring(end).equals(END + checksum(text.substring(0, end)) + "\n")) {
      return null;
    }
    return parse(text.substring(0, end).split("\n", -1), name, location.name());
  }

  private static @Nullable PublicationRecord parse(String[] lines, String mark, String location) {
    boolean replaces = lines[0].equals(HEAD + REPLACE);
    if (!replaces && !lines[0].equals(HEAD + NEW)) {
      return null;
    }
    List<Named> named = new ArrayList<>();
    List<LocationPath> removed = new ArrayList<>();
    for (int i = 1; i < lines.length - 1; i++) {
      String line = lines[i];
      int space = line.indexOf(' ', NAMED.length());
      String number = line.startsWith(NAMED) && space > 0 ? line.substring(2, space) : "";
      String temporary = mark + "-" + number;
      if (TemporaryName.belongsTo(temporary, mark)) {
        named.add(new Named(temporary, path(location, line.substring(space + 1))));
      } else if (line.startsWith(REMOVED)) {
        removed.add(path(location, line.substring(REMOVED.length())));
      } else {
        return null;
      }
    }
    return new PublicationRecord(replaces, named, removed);
  }

  private static LocationPath path(String location, String below) {
    return LocationPath.parse(location + ":" + below);
  }

  private static String below(LocationPath path) {
    return String.join("/", path.names());
  }

  private static String checksum(String text) {
    CRC32C sum = new CRC32C();
    sum.update(text.getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(sum.getValue());
  }

  private static FileChannel channel(int descriptor, StandardOpenOption option) throws IOException {
    return FileChannel.open(Path.of("/proc/self/fd/" + descriptor), option);
  }
}
