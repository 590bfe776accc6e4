package dev.kakehashi.server;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.requests.TransactionTokens;
import dev.kakehashi.server.socket.OwnerSocket;
import dev.kakehashi.server.socket.RuntimeLocation;
import dev.kakehashi.server.standby.BaseBackup;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Writes a backup for whoever asks with a line that is the target's absolute path. Only the endpoint's own OS user may.
///
/// Answers with a line `file <bytes> <path>` per file that was copied, and at the end with `done` or `error <message>`. A backup that
/// fails, or whose asker goes away, leaves nothing in the target.
final class BackupSocket {
  private static final String FILE = "backup.sock";
  private static final String ENGINE_DIRECTORY = "store";

  /// Files of a data directory that are not the engine's, and belong to a backup.
  private static final List<String> BESIDE_ENGINE =
      List.of(UserFile.NAME, TransactionTokens.FILE, AutoSettings.FILE);

  private BackupSocket() {}

  /// Sends a backup, see [BaseBackup].
  static void send(Path data, Engine engine, OutputStream to) throws IOException {
    engine.require(Capability.BACKUP);
    try (Backup backup = engine.backup()) {
      BaseBackup.Sender sender = new BaseBackup.Sender(to);
      for (Backup.File file : backup.changingFiles()) {
        sender.file(file.source(), file.bytes(), ENGINE_DIRECTORY + "/" + file.name());
      }
      for (Backup.File file : backup.files()) {
        sender.file(file.source(), file.bytes(), ENGINE_DIRECTORY + "/" + file.name());
      }
      for (String name : BESIDE_ENGINE) {
        Path file = data.resolve(name);
        if (Files.exists(file)) {
          sender.file(file, name);
        }
      }
      LogPosition position = backup.position();
      sender.end(position == null ? "" : position.toString());
    }
  }

  /// Opens the socket in a runtime directory that this process owns.
  ///
  /// @param data the data directory: what is not the engine's is copied from there
  static OwnerSocket open(Path runtimeDirectory, Path data, Engine engine) throws IOException {
    return OwnerSocket.open(
        runtimeDirectory, FILE, (client, served) -> answer(client, served, data, engine));
  }

  private static void answer(SocketChannel client, Runnable served, Path data, Engine engine)
      throws IOException {
    try (BufferedReader in =
            new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8));
        Writer out = Channels.newWriter(client, StandardCharsets.UTF_8)) {
      String target = in.readLine();
      if (target == null) {
        return;
      }
      served.run();
      String end = "done";
      try {
        write(Path.of(target), data, engine, out);
      } catch (IOException | RuntimeException e) {
        end = "error " + Main.reason(e).replace('\n', ' ');
      }
      out.write(end + "\n");
      out.flush();
    }
  }

  private static void write(Path target, Path data, Engine engine, Writer progress)
      throws IOException {
    if (!target.isAbsolute()) {
      throw new SettingsException("\"" + target + "\" is not an absolute path");
    }
    if (!Directories.isEmpty(target)) {
      throw new SettingsException("\"" + target + "\" is not empty");
    }
    boolean made = Files.notExists(target);
    PrivateDirectory.prepare(target);
    boolean complete = false;
    try {
      copy(target, data, engine, progress);
      complete = true;
    } finally {
      if (!complete) {
        Directories.deleteContent(target);
        if (made) {
          Files.deleteIfExists(target);
        }
      }
    }
  }

  private static void copy(Path target, Path data, Engine engine, Writer progress)
      throws IOException {
    engine.require(Capability.BACKUP);
    String begun = Instant.now().toString();
    List<BackupManifest.Entry> entries = new ArrayList<>();
    LogPosition position;
    try (Backup backup = engine.backup()) {
      // In this order: which moment the backup is of is said when the others are there.
      copy(backup.changingFiles(), target, entries, progress);
      copy(backup.files(), target, entries, progress);
      position = backup.position();
    }
    for (String name : BESIDE_ENGINE) {
      Path file = data.resolve(name);
      if (Files.exists(file)) {
        entries.add(BackupManifest.copy(file, target, name));
        report(entries.getLast(), progress);
      }
    }
    BackupManifest.forceTree(target);
    Directories.forceNames(target);
    new BackupManifest(begun, position == null ? "" : position.toString(), entries).write(target);
  }

  private static void copy(
      List<Backup.File> files, Path target, List<BackupManifest.Entry> entries, Writer progress)
      throws IOException {
    for (Backup.File file : files) {
      entries.add(
          BackupManifest.copy(
              file.source(), file.bytes(), target, ENGINE_DIRECTORY + "/" + file.name()));
      report(entries.getLast(), progress);
    }
  }

  /// Tells the asker; fails if the asker has gone.
  private static void report(BackupManifest.Entry entry, Writer progress) throws IOException {
    progress.write("file %d %s\n".formatted(entry.bytes(), entry.path()));
    progress.flush();
  }

  /// Asks a running endpoint for a backup and waits for it.
  ///
  /// @param target absolute path
  /// @param progress gets a line per file
  /// @throws SettingsException what the endpoint says
  static void ask(RuntimeLocation location, Path target, PrintStream progress) throws IOException {
    try (SocketChannel channel = OwnerSocket.connect(location, FILE);
        BufferedReader in =
            new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8));
        Writer out = Channels.newWriter(channel, StandardCharsets.UTF_8)) {
      out.write(target + "\n");
      out.flush();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("done")) {
          return;
        }
        if (line.startsWith("error ")) {
          throw new SettingsException("could not back up: " + line.substring("error ".length()));
        }
        progress.println(line);
      }
      throw new SettingsException("could not back up: the endpoint has gone");
    }
  }
}
