package dev.kakehashi.server;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A directory with rows in it, which nobody but its OS user may look into: mode 0700, whatever the umask. Its files are out of reach for
/// others then, whatever their own mode.
final class PrivateDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(PrivateDirectory.class);
  private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rwx------");
  private static final FileAttribute<?> MADE_SO = PosixFilePermissions.asFileAttribute(OWN);

  /// One of them is in every directory of an endpoint.
  private static final List<String> PARTS =
      List.of(
          "store",
          "endpoint.pid",
          "logs",
          "transactions",
          UserFile.NAME,
          RestoreCommand.UNFINISHED,
          BackupManifest.FILE);

  private PrivateDirectory() {}

  /// Makes a directory, or takes one that is there from others' reach.
  ///
  /// @throws SettingsException if it is another OS user's, or has been made for something else
  static void prepare(Path directory) throws IOException {
    Path parent = directory.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    try {
      Files.createDirectory(directory, MADE_SO);
      return;
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory)) {
        throw e;
      }
    }
    PosixFileAttributes attributes = Files.readAttributes(directory, PosixFileAttributes.class);
    if ((int) Files.getAttribute(directory, "unix:uid") != Credentials.ownUid()) {
      throw new SettingsException(
          "\"%s\" belongs to OS user \"%s\": only that user may have rows in it"
              .formatted(directory, attributes.owner().getName()));
    }
    Set<PosixFilePermission> found = attributes.permissions();
    if (OWN.containsAll(found)) {
      return;
    }
    if (!isOurs(directory)) {
      throw new SettingsException(
          "\"%s\" has files of something else, and other OS users may look into it: use another directory, or take it from them (chmod 0700)"
              .formatted(directory));
    }
    Files.setPosixFilePermissions(directory, OWN);
    LOG.warn(
        "other OS users could look into \"{}\" ({}): they no longer can (rwx------)",
        directory,
        PosixFilePermissions.toString(found));
  }

  private static boolean isOurs(Path directory) throws IOException {
    return Directories.isEmpty(directory)
        || PARTS.stream().anyMatch(part -> Files.exists(directory.resolve(part)));
  }
}
