package dev.kakehashi.tck.transfers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Answers to the writers, in a file that outlives them. A line is written before the next step, so a kill of the process loses none.
///
/// ```
/// life             a process begins; lives are counted from 1
/// try ID           a commit is about to be asked for
/// ack ID           it was acknowledged
/// fail ID STATE    it was refused
/// doubt ID STATE   nobody knows
/// ```
///
/// Thread-safe.
final class Ledger implements AutoCloseable {
  /// Knowledge of all transfers.
  ///
  /// @param lives of processes
  /// @param acknowledged they have to be there
  /// @param refused they may not be there
  /// @param open neither: a commit without an answer yet, or one whose answer is that nobody knows
  /// @param doubtful of these, those whose answer is that nobody knows
  record Entries(
      int lives, Set<Long> acknowledged, Set<Long> refused, Set<Long> open, Set<Long> doubtful) {}

  private final FileChannel file;

  private Ledger(FileChannel file) {
    this.file = file;
  }

  /// Begins a new one.
  static void create(Path path) throws IOException {
    Files.write(path, new byte[0]);
  }

  /// Opens it to go on.
  static Ledger open(Path path) throws IOException {
    return new Ledger(FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.APPEND));
  }

  void life() {
    write("life");
  }

  void trying(long id) {
    write("try " + id);
  }

  void acknowledged(long id) {
    write("ack " + id);
  }

  void refused(long id, String sqlstate) {
    write("fail " + id + " " + sqlstate);
  }

  void doubt(long id, String sqlstate) {
    write("doubt " + id + " " + sqlstate);
  }

  private synchronized void write(String line) {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.US_ASCII));
    try {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Reads all of it.
  static Entries read(Path path) throws IOException {
    int lives = 0;
    Map<Long, String> last = new HashMap<>();
    List<String> lines = Files.readAllLines(path, StandardCharsets.US_ASCII);
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("life")) {
        lives++;
      } else {
        last.put(Long.valueOf(words[1]), words[0]);
      }
    }
    Set<Long> acknowledged = new HashSet<>();
    Set<Long> refused = new HashSet<>();
    Set<Long> open = new HashSet<>();
    Set<Long> doubtful = new HashSet<>();
    last.forEach((id, how) -> {
      switch (how) {
        case "ack" -> acknowledged.add(id);
        case "fail" -> refused.add(id);
        case "doubt" -> {
          open.add(id);
          doubtful.add(id);
        }
        default -> open.add(id);
      }
    });
    return new Entries(lives, acknowledged, refused, open, doubtful);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
