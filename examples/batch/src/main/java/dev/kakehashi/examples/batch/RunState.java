package dev.kakehashi.examples.batch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// How far a run has come, in a file that survives this process. Each change is durable before what it announces.
final class RunState {
  private final Path file;
  private final TreeMap<String, String> values = new TreeMap<>();

  private RunState(Path file) {
    this.file = file;
  }

  /// @param file made by the first change
  static RunState open(Path file) throws IOException {
    RunState state = new RunState(file);
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        int equal = line.indexOf('=');
        state.values.put(line.substring(0, equal), line.substring(equal + 1));
      }
    }
    return state;
  }

  boolean has(String key) {
    return values.containsKey(key);
  }

  /// @return empty if it was never put
  String get(String key) {
    return values.getOrDefault(key, "");
  }

  void put(String key, String value) throws IOException {
    values.put(key, value);
    replace(
        file,
        values.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .collect(Collectors.joining("\n", "", "\n")));
  }

  /// The file has the text, durably, or what it had before.
  static void replace(Path file, String text) throws IOException {
    Path made = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel channel =
        FileChannel.open(
            made,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(made, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel directory = FileChannel.open(file.toAbsolutePath().getParent())) {
      directory.force(true);
    }
  }
}
