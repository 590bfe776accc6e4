package dev.kakehashi.examples.batch;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A file NAME.sql with one query. Options of its dump are in a first line as `-- options: {"partition_by": "year"}`.
///
/// @param options of COPY, a JSON object
record Query(String name, String text, ObjectNode options) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SUFFIX = ".sql";
  private static final String OPTIONS = "-- options: ";

  /// The queries of a directory by their names.
  static List<Query> readAll(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      List<Query> queries =
          files
              .filter(file -> file.toString().endsWith(SUFFIX))
              .sorted()
              .map(Query::read)
              .collect(Collectors.toList());
      if (queries.isEmpty()) {
        throw new IOException("there is no file *.sql in " + directory);
      }
      return queries;
    }
  }

  private static Query read(Path file) {
    String fileName = file.getFileName().toString();
    String name = fileName.substring(0, fileName.length() - SUFFIX.length());
    if (!name.matches("[a-z][a-z0-9_]*")) {
      throw new IllegalArgumentException(file + ": a name is of a-z, 0-9 and _");
    }
    try {
      String text = Files.readString(file).strip();
      ObjectNode options = JSON.createObjectNode();
      if (text.startsWith(OPTIONS)) {
        int end = text.indexOf('\n');
        options = JSON.readValue(text.substring(OPTIONS.length(), end), ObjectNode.class);
        text = text.substring(end + 1);
      }
      return new Query(name, text, options);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
