package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A fenced block of a document in Markdown.
///
/// @param part heading of the second level above it
/// @param heading nearest heading above it
/// @param language after the fence; may be empty
/// @param text its lines, each with its end
public record DocumentBlock(String part, String heading, String language, String text) {
  private static final String FENCE = "```";

  /// The blocks of a document, in their order.
  public static List<DocumentBlock> of(Path document) {
    List<String> lines;
    try {
      lines = Files.readAllLines(document);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<DocumentBlock> blocks = new ArrayList<>();
    String part = "";
    String heading = "";
    int at = 0;
    while (at < lines.size()) {
      String line = lines.get(at++);
      if (line.startsWith("#")) {
        heading = line.replaceFirst("#+ ", "");
        part = line.startsWith("## ") ? heading : part;
      } else if (line.startsWith(FENCE)) {
        int end = at;
        while (!lines.get(end).equals(FENCE)) {
          end++;
        }
        String text = String.join("\n", lines.subList(at, end)) + "\n";
        blocks.add(new DocumentBlock(part, heading, line.substring(FENCE.length()), text));
        at = end + 1;
      }
    }
    return blocks;
  }
}
