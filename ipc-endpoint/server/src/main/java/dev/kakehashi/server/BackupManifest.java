package dev.kakehashi.server;

import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/// Content of a backup: the file `BACKUP`, written last, so that a directory with it is whole.
///
/// ```
/// kakehashi backup 2
/// begun 2026-11-21T09:30:00Z
/// position 1/2a/1f40            where the log ends in it; - if the engine has no positions
/// <SHA-256> <bytes> <path>      a line per file, in the order of their copying
/// …
/// end <SHA-256 of all lines before>
/// ```
///
/// Version 1 had no position.
///
/// @param position empty: it is not known
/// @param begun when, in ISO 8601; every commit stored before is in it
record BackupManifest(String begun, String position, List<Entry> entries) {
  static final String FILE = "BACKUP";
  private static final String HEAD = "kakehashi backup 2";
  private static final String HEAD_BEFORE = "kakehashi backup 1";
  private static final String NO_POSITION = "-";
  private static final int BUFFER_BYTES = 1 << 20;
  private static final FileAttribute<?> OWN =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /// @param path relative to the backup
  record Entry(String path, long bytes, String digest) {}

  static boolean isBackup(Path directory) {
    return Files.exists(directory.resolve(FILE));
  }

  /// When and where in the log, for people.
  String moment() {
    return position.isEmpty() ? begun : begun + " at " + position;
  }

  long bytes() {
    return entries.stream().mapToLong(Entry::bytes).sum();
  }

  /// Makes the directory a backup, durably.
  void write(Path directory) throws IOException {
    StringBuilder text = new StringBuilder(HEAD).append("\nbegun ").append(begun);
    text.append("\nposition ").append(position.isEmpty() ? NO_POSITION : position).append('\n');
    for (Entry entry : entries) {
      text.append("%s %d %s\n".formatted(entry.digest(), entry.bytes(), entry.path()));
    }
    byte[] lines = text.toString().getBytes(StandardCharsets.UTF_8);
    Path fresh = directory.resolve(FILE + ".new");
    String end = "end " + HexFormat.of().formatHex(sha256().digest(lines)) + "\n";
    try (FileChannel channel =
        FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      write(channel, ByteBuffer.wrap(lines), fresh);
      write(channel, ByteBuffer.wrap(end.getBytes(StandardCharsets.US_ASCII)), fresh);
      force(channel, fresh);
    }
    Files.move(fresh, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    Directories.force(directory);
  }

  /// @throws SettingsException if the directory is no backup, or its manifest is damaged
  static BackupManifest read(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    if (Files.notExists(file)) {
      throw new SettingsException(
          "\"%s\" is no backup, or one that was not finished: it has no file \"%s\""
              .formatted(directory, FILE));
    }
    // Bytes that are no characters become others, and then the checksum does not hold.
    String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    int end = text.lastIndexOf("\nend ") + 1;
    byte[] lines = text.substring(0, end).getBytes(StandardCharsets.UTF_8);
    String digest = "end " + HexFormat.of().formatHex(sha256().digest(lines)) + "\n";
    if (end == 0 || !text.substring(end).equals(digest)) {
      throw new SettingsException("\"%s\" is damaged: its checksum does not hold".formatted(file));
    }
    String[] parts = text.substring(0, end).split("\n", -1);
    boolean hasPosition = parts[0].equals(HEAD);
    if (!hasPosition && !parts[0].equals(HEAD_BEFORE)) {
      throw new SettingsException(
          "\"%s\" begins with \"%s\", this version reads \"%s\" and \"%s\""
              .formatted(file, parts[0], HEAD_BEFORE, HEAD));
    }
    String position = hasPosition ? parts[2].substring("position ".length()) : NO_POSITION;
    List<Entry> entries = new ArrayList<>();
    for (int i = hasPosition ? 3 : 2; i < parts.length - 1; i++) {
      String[] words = parts[i].split(" ", 3);
      entries.add(new Entry(words[2], Long.parseLong(words[1]), words[0]));
    }
    return new BackupManifest(
        parts[1].substring("begun ".length()),
        position.equals(NO_POSITION) ? "" : position,
        List.copyOf(entries));
  }

  /// Reads every file of the backup.
  ///
  /// @return what is wrong; empty if all checksums hold
  List<String> verify(Path directory) throws IOException {
    List<String> problems = new ArrayList<>();
    for (Entry entry : entries) {
      Path file = directory.resolve(entry.path());
      if (Files.notExists(file)) {
        problems.add("file \"%s\" is missing".formatted(file));
      } else if (Files.size(file) != entry.bytes()) {
        problems.add(
            "file \"%s\" has %d bytes instead of %d"
                .formatted(file, Files.size(file), entry.bytes()));
      } else if (!digest(file).equals(entry.digest())) {
        problems.add("file \"%s\" is damaged: its checksum does not hold".formatted(file));
      }
    }
    return problems;
  }

  private static String digest(Path file) throws IOException {
    MessageDigest digest = sha256();
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = Files.newInputStream(file)) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        digest.update(buffer, 0, count);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /// Copies the first bytes of a file to a new one, durably but for the names of directories.
  ///
  /// @param path where, relative to `directory`
  /// @return what was copied
  static Entry copy(Path source, long bytes, Path directory, String path) throws IOException {
    try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ)) {
      return copy(source, from, bytes, directory, path);
    }
  }

  /// The same with the whole of a file, which others may replace by another one meanwhile.
  static Entry copy(Path source, Path directory, String path) throws IOException {
    try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ)) {
      return copy(source, from, from.size(), directory, path);
    }
  }

  private static Entry copy(Path source, FileChannel from, long bytes, Path directory, String path)
      throws IOException {
    Path target = directory.resolve(path);
    Files.createDirectories(target.getParent());
    MessageDigest digest = sha256();
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    try (FileChannel to =
        FileChannel.open(
            target, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWN)) {
      for (long left = bytes; left > 0; ) {
        buffer.clear().limit((int) Math.min(left, BUFFER_BYTES));
        int count = from.read(buffer);
        if (count < 0) {
          throw new IOException("\"%s\" ends %d bytes early".formatted(source, left));
        }
        left -= count;
        digest.update(buffer.flip().duplicate());
        write(to, buffer, target);
      }
      force(to, target);
    }
    return new Entry(path, bytes, HexFormat.of().formatHex(digest.digest()));
  }

  /// Returns when all names below a directory survive power loss.
  static void forceTree(Path directory) throws IOException {
    try (var found = Files.walk(directory)) {
      for (Path each : found.filter(Files::isDirectory).toList()) {
        Directories.force(each);
      }
    }
  }

  private static void write(FileChannel channel, ByteBuffer bytes, Path file) throws IOException {
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      throw unwritten(file, e);
    }
  }

  private static void force(FileChannel channel, Path file) throws IOException {
    try {
      channel.force(true);
    } catch (IOException e) {
      throw unwritten(file, e);
    }
  }

  /// The message of a channel does not name its file.
  private static IOException unwritten(Path file, IOException reason) {
    return new IOException(
        "could not write \"%s\": %s".formatted(file, reason.getMessage()), reason);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }
}
