package dev.kakehashi.tools.shell.http;

import dev.kakehashi.tools.shell.ShellException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Passwords in a file that nobody else may read: lines `host:port:user:password`, `*` is any, a backslash before `:` and `\` makes them
/// ordinary, as in PostgreSQL's `.pgpass`. A Unix socket is the host `localhost` with the port 0.
public final class PasswordFile {
  private static final long MOST_BYTES = 1 << 20;
  private static final int FIELDS = 4;

  private static final Set<PosixFilePermission> OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private PasswordFile() {}

  /// The password of a user; null: the file has none.
  ///
  /// @throws ShellException others may read or write it
  public static @Nullable String find(Path file, HttpPlace place, String user) throws IOException {
    if (Files.size(file) > MOST_BYTES) {
      throw new ShellException("password file \"" + file + "\" is longer than 1 MB");
    }
    Set<PosixFilePermission> open = EnumSet.copyOf(OTHERS);
    open.retainAll(Files.getPosixFilePermissions(file));
    if (!open.isEmpty()) {
      throw new ShellException(
          "password file \"" + file + "\" can be used by others; chmod 0600 closes it");
    }
    String host = place.isUnix() ? "localhost" : place.host();
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("#")) {
        continue;
      }
      List<String> fields = fields(line);
      if (fields.size() == FIELDS
          && isLike(fields.get(0), host)
          && isLike(fields.get(1), Integer.toString(place.port()))
          && isLike(fields.get(2), user)) {
        return fields.get(3);
      }
    }
    return null;
  }

  private static boolean isLike(String field, String value) {
    return field.equals("*") || field.equals(value);
  }

  private static List<String> fields(String line) {
    List<String> fields = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '\\' && i + 1 < line.length()) {
        field.append(line.charAt(++i));
      } else if (c == ':' && fields.size() < FIELDS - 1) {
        fields.add(field.toString());
        field.setLength(0);
      } else {
        field.append(c);
      }
    }
    fields.add(field.toString());
    return fields;
  }
}
