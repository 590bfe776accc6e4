package dev.kakehashi.examples.batch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/// A line of the manifest: a file of a dump, as the endpoint has reported it.
///
/// @param dump name of the dump
/// @param path where this node sees it
/// @param digest SHA-256, hexadecimal
record DumpedFile(String dump, Path path, long rows, long bytes, String digest) {
  private static final int BUFFER = 1 << 16;

  static List<DumpedFile> read(Path manifest) throws IOException {
    List<DumpedFile> files = new ArrayList<>();
    for (String line : Files.readAllLines(manifest)) {
      String[] fields = line.split("\t", -1);
      files.add(
          new DumpedFile(
              fields[0],
              Path.of(fields[4]),
              Long.parseLong(fields[1]),
              Long.parseLong(fields[2]),
              fields[3]));
    }
    return files;
  }

  static void write(Path manifest, List<DumpedFile> files) throws IOException {
    String text =
        files.stream()
            .map(file ->
                String.join(
                    "\t",
                    file.dump,
                    Long.toString(file.rows),
                    Long.toString(file.bytes),
                    file.digest,
                    file.path.toString()))
            .collect(Collectors.joining("\n", "", "\n"));
    RunState.replace(manifest, text);
  }

  /// The file as this node sees it is the one that was dumped.
  ///
  /// @throws IOException when it is not
  void check() throws IOException {
    MessageDigest sha256;
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    try (InputStream stream = Files.newInputStream(path)) {
      byte[] buffer = new byte[BUFFER];
      for (int read = stream.read(buffer); read >= 0; read = stream.read(buffer)) {
        sha256.update(buffer, 0, read);
      }
    }
    if (!HexFormat.of().formatHex(sha256.digest()).equals(digest)) {
      throw new IOException(path + " is not the file that was dumped");
    }
  }
}
