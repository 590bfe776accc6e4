package dev.kakehashi.engine.store.log;

import com.sun.security.auth.module.UnixSystem;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.DiskErrors;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.zip.CRC32;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/// The native part of RocksDB, as one file that the processes of a user share.
///
/// RocksDB itself extracts 17 MB for each process, which stay behind when it is killed. Here they are in `kakehashi-native-UID` in
/// `java.io.tmpdir`, extracted if they are not there as the jar has them. Processes take turns by a lock on a file; what another one has
/// loaded already is replaced by name only.
final class RocksLibrary {
  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rwx------");

  /// Whether this process has it. Guarded by the class.
  private static boolean loaded;

  private RocksLibrary() {}

  /// Loads it, unless this process has it already. Thread-safe.
  ///
  /// @throws EngineException IO_ERROR, DISK_FULL or INTERNAL_ERROR
  static void load() {
    Path directory = Path.of(System.getProperty("java.io.tmpdir"));
    try {
      loadFrom(directory.resolve("kakehashi-native-" + ownUser()));
    } catch (IOException e) {
      throw new EngineException(
              DiskErrors.code(String.valueOf(e.getMessage())),
              "could not extract the library of RocksDB in \"%s\": %s".formatted(directory, e),
              e)
          .withHint("Name another directory with -Djava.io.tmpdir=DIRECTORY.");
    }
  }

  /// Synchronized: the lock of a file is a process's, not a thread's.
  private static synchronized void loadFrom(Path directory) throws IOException {
    if (loaded) {
      return;
    }
    makePrivate(directory);
    // The name under which loadLibrary() looks for it.
    Path library = directory.resolve(Environment.getJniLibraryFileName("rocksdbjni"));
    try (FileChannel channel =
            FileChannel.open(
                directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      assert lock.isValid();
      extract(library);
      RocksDB.loadLibrary(List.of(directory.toString()));
      loaded = true;
    }
  }

  /// Makes a directory of this user alone: users that can write to the directory could choose the library.
  private static void makePrivate(Path directory) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
          || !isOwn(directory)
          || !Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS).equals(PRIVATE)) {
        throw new IOException(directory + " is not a directory of this user alone", e);
      }
    }
  }

  private static void extract(Path library) throws IOException {
    String name = Environment.getJniLibraryFileName("rocksdb");
    URL source = RocksDB.class.getClassLoader().getResource(name);
    if (source == null) {
      throw new FileNotFoundException("there is no " + name + " in the class path");
    }
    URLConnection connection = source.openConnection();
    if (connection instanceof JarURLConnection jar && isCopy(library, jar.getJarEntry())) {
      return;
    }
    Path part = library.resolveSibling(library.getFileName() + ".part");
    try (InputStream content = connection.getInputStream()) {
      Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
    }
    Files.move(part, library, StandardCopyOption.ATOMIC_MOVE);
  }

  private static boolean isCopy(Path file, JarEntry original) throws IOException {
    if (Files.notExists(file) || Files.size(file) != original.getSize()) {
      return false;
    }
    CRC32 checksum = new CRC32();
    try (FileChannel channel = FileChannel.open(file)) {
      checksum.update(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
    }
    return checksum.getValue() == original.getCrc();
  }

  private static boolean isOwn(Path file) throws IOException {
    return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS) instanceof Integer owner
        && Integer.toUnsignedLong(owner) == ownUser();
  }

  private static long ownUser() {
    return new UnixSystem().getUid();
  }
}
