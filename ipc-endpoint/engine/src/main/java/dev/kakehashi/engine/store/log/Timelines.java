package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// The histories that a log goes on from: a timeline begins where a restore or a promotion has left the one before, with another
/// identifier of the log and in a segment of its own. So groups of two histories are never taken for each other's.
///
/// As text, a line for each: number, identifier of the log, bytes of a segment, the position at which it has left the one before, and the
/// position at which it begins, in hexadecimal. Immutable.
///
/// @param all from the first to the present one
record Timelines(List<Timeline> all) {
  /// Entry of the image; without it there is the first timeline alone.
  static final byte[] KEY = {0, 1};

  private static final int WORDS = 5;

  /// @param forked position at which it has left the timeline before; 0: it is the first
  /// @param begin position of its first group
  record Timeline(int number, LogFormat format, long forked, long begin) {}

  Timelines {
    all = List.copyOf(all);
  }

  /// The timelines of an image.
  ///
  /// @param format of its log
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  static Timelines of(RocksImage image, LogFormat format) {
    Timelines found =
        image
            .get(KEY)
            .map(value -> parse(new String(value, StandardCharsets.UTF_8)))
            .orElseGet(() -> first(format));
    if (!found.current().format().equals(format)) {
      throw LogReader.corrupted(
          "base image \"%s\" has the timelines of another log".formatted(image.directory()));
    }
    return found;
  }

  private static Timelines first(LogFormat format) {
    return new Timelines(List.of(new Timeline(1, format, 0, format.firstPosition(0))));
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  static Timelines parse(String text) {
    List<Timeline> found = new ArrayList<>();
    try {
      for (String line : text.lines().toList()) {
        String[] words = line.split(" ", -1);
        if (words.length != WORDS) {
          throw new IllegalArgumentException(line);
        }
        found.add(
            new Timeline(
                HexFormat.fromHexDigits(words[0]),
                new LogFormat(
                    HexFormat.fromHexDigitsToLong(words[1]), HexFormat.fromHexDigits(words[2])),
                HexFormat.fromHexDigitsToLong(words[3]),
                HexFormat.fromHexDigitsToLong(words[4])));
      }
    } catch (IllegalArgumentException e) {
      throw LogReader.corrupted("timelines cannot be read: " + e.getMessage());
    }
    if (found.isEmpty()) {
      throw LogReader.corrupted("timelines are missing");
    }
    return new Timelines(found);
  }

  String text() {
    StringBuilder text = new StringBuilder();
    for (Timeline each : all) {
      text.append(
          "%x %016x %x %x %x\n"
              .formatted(
                  each.number(),
                  each.format().logId(),
                  each.format().segmentBytes(),
                  each.forked(),
                  each.begin()));
    }
    return text.toString();
  }

  Timeline current() {
    return all.getLast();
  }

  /// These and one that leaves the present one.
  ///
  /// @param end where the present one ends
  Timelines and(int number, long logId, long end) {
    LogFormat before = current().format();
    LogFormat format = new LogFormat(logId, before.segmentBytes());
    List<Timeline> more = new ArrayList<>(all);
    more.add(new Timeline(number, format, end, format.firstPosition(before.segment(end) + 1)));
    return new Timelines(more);
  }

  /// A position of the present timeline, for people.
  LogPosition position(long position) {
    return position(current(), position);
  }

  static LogPosition position(Timeline timeline, long position) {
    LogFormat format = timeline.format();
    return new LogPosition(timeline.number(), format.segment(position), format.offset(position));
  }
}
