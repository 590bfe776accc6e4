package dev.kakehashi.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;

/// Inputs of a target in the tree: a file `corpus/TARGET.txt` with an input a line, in base64. A line that begins with `#` is a comment.
final class Corpus {
  private static final Path DIRECTORY = Path.of(System.getProperty("kakehashi.corpus", "corpus"));

  private Corpus() {}

  static List<byte[]> of(String target) throws IOException {
    return Files.readAllLines(DIRECTORY.resolve(target + ".txt")).stream()
        .filter(line -> !line.startsWith("#") && !line.isBlank())
        .map(line -> Base64.getDecoder().decode(line))
        .toList();
  }
}
