package dev.kakehashi.server;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Users of an endpoint and their passwords: lines `name:verifier` of the file `users` in the data directory, mode 0600.
///
/// Each change replaces the file, so that a reader finds the old or the new one whole; those who change it exclude each other
/// by the lock of a file beside it. A running endpoint sees a change at the next attach.
final class UserFile {
  static final String NAME = "users";
  private static final String SECRET = NAME + ".secret";
  private static final int SECRET_BYTES = 32;
  private static final int MAX_NAME_CHARS = 63; // as PostgreSQL
  private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rw-------");

  private final Path directory;

  /// @param directory data directory of the endpoint
  UserFile(Path directory) {
    this.directory = directory;
  }

  private Path file() {
    return directory.resolve(NAME);
  }

  /// All users by name; none when there is no file.
  ///
  /// @throws SettingsException naming file and line when it cannot be understood
  Map<String, ScramVerifier> read() throws IOException {
    Map<String, ScramVerifier> users = new TreeMap<>();
    if (Files.notExists(file())) {
      return users;
    }
    int number = 0;
    // Bytes that are no characters become others, which are in no verifier.
    String text = new String(Files.readAllBytes(file()), StandardCharsets.UTF_8);
    for (String line : text.lines().toList()) {
      number++;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      int colon = line.indexOf(':');
      try {
        users.put(
            checkedName(line.substring(0, Math.max(colon, 0))),
            ScramVerifier.parse(line.substring(colon + 1)));
      } catch (IllegalArgumentException | SettingsException e) {
        throw new SettingsException("%s:%d: %s".formatted(file(), number, e.getMessage()));
      }
    }
    return users;
  }

  /// @return null when there is no such user
  @Nullable ScramVerifier find(String name) throws IOException {
    return read().get(name);
  }

  /// Verifiers of all users by name, in the form of the file.
  ///
  /// @throws EngineException IO_ERROR when the file cannot be read or understood
  Map<String, String> verifiers() {
    try {
      Map<String, String> verifiers = new TreeMap<>();
      read().forEach((name, verifier) -> verifiers.put(name, verifier.format()));
      return verifiers;
    } catch (IOException | SettingsException e) {
      throw new EngineException(ErrorCode.IO_ERROR, "could not read the users of the endpoint", e);
    }
  }

  /// Adds a user.
  ///
  /// @param replace whether a user who is there gets the new password
  /// @throws SettingsException for a name that is taken or cannot be one
  void add(String name, ScramVerifier verifier, boolean replace) throws IOException {
    checkedName(name);
    change(users -> {
      if (users.putIfAbsent(name, verifier) != null) {
        if (!replace) {
          throw new SettingsException(
              "user \"%s\" already exists; --replace changes the password".formatted(name));
        }
        users.put(name, verifier);
      }
    });
  }

  /// @throws SettingsException when there is no such user
  void remove(String name) throws IOException {
    change(users -> {
      if (users.remove(name) == null) {
        throw new SettingsException("user \"%s\" does not exist".formatted(name));
      }
    });
  }

  private static String checkedName(String name) {
    if (name.isEmpty()
        || name.length() > MAX_NAME_CHARS
        || name.startsWith("#")
        || name.chars().anyMatch(c -> c == ':' || Character.isISOControl(c))) {
      throw new SettingsException(
          "\"%s\" cannot be the name of a user: 1 to %d characters, no colon, no control character, no # at the beginning"
              .formatted(name, MAX_NAME_CHARS));
    }
    return name;
  }

  /// Random bytes that only the endpoint knows, the same at each call: made with the first one, in a file of their own.
  byte[] secret() throws IOException {
    Path path = directory.resolve(SECRET);
    if (Files.exists(path)) {
      byte[] there = Files.readAllBytes(path);
      if (there.length == SECRET_BYTES) {
        return there;
      }
    }
    byte[] made = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(made);
    ReplacedFile.write(path, made);
    return made;
  }

  private interface Change {
    void apply(Map<String, ScramVerifier> users);
  }

  private void change(Change change) throws IOException {
    PrivateDirectory.prepare(directory);
    try (FileChannel guard =
            FileChannel.open(
                directory.resolve(NAME + ".lock"),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(OWN));
        FileLock lock = guard.lock()) {
      if (!lock.isValid()) {
        throw new IOException("could not lock \"" + directory + "\"");
      }
      Map<String, ScramVerifier> users = read();
      change.apply(users);
      StringBuilder lines = new StringBuilder();
      users.forEach((name, verifier) ->
          lines.append(name).append(':').append(verifier.format()).append('\n'));
      ReplacedFile.write(file(), lines.toString().getBytes(StandardCharsets.UTF_8));
    }
  }
}
