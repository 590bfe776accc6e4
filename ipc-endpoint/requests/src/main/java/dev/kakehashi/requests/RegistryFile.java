package dev.kakehashi.requests;

import dev.kakehashi.protocol.Directories;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Consumer;
import net.openhft.chronicle.hash.ChronicleFileLockException;
import net.openhft.chronicle.hash.ChronicleHashRecoveryFailedException;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Opens the file of the registry. No row depends on it: one that is damaged is set aside with a warning, and an empty one takes its place.
final class RegistryFile {
  private static final Logger LOG = LoggerFactory.getLogger(RegistryFile.class);
  private static final String DAMAGED = ".damaged";
  private static final String FRESH = ".new";

  /// Length and state of the header: a checksum is before it, the header's text behind it.
  private static final int SIZE_WORD_OFFSET = 8;

  private static final int NOT_COMPLETE = 1 << 31;

  private RegistryFile() {}

  /// @param reader reads all of a file that was there; throws if something in it cannot be
  /// @throws IOException if the file cannot be read or made
  static <K, V> ChronicleMap<K, V> open(
      Path path, ChronicleMapBuilder<K, V> builder, Consumer<ChronicleMap<K, V>> reader)
      throws IOException {
    File file = path.toFile();
    if (!file.exists() || file.length() == 0) {
      return builder.createPersistedTo(file);
    }
    String problem = problem(path);
    if (problem == null) {
      ChronicleMap<K, V> map = null;
      try {
        // An endpoint that was killed may have left locks in the file; recovery clears them, and
        // costs milliseconds.
        map = builder.recoverPersistedTo(file, false);
        reader.accept(map);
        return map;
      } catch (ChronicleHashRecoveryFailedException e) {
        if (e.getCause() instanceof ChronicleFileLockException) {
          throw new IOException("transaction registry \"" + path + "\" is in use", e);
        }
        problem = String.valueOf(e.getMessage());
      } catch (RuntimeException | InternalError e) {
        // Recovery and reading follow numbers of the file wherever they lead.
        problem = e.toString();
        closeDamaged(map);
      }
    }
    return replace(path, builder, problem);
  }

  /// Problem with a file, which is read in a copy, as [#open] would read it. Changes nothing in its directory.
  ///
  /// @param path of a file that no process has open
  /// @return null: nothing
  /// @throws IOException if the file cannot be read or copied
  static <K, V> @Nullable String problem(
      Path path, ChronicleMapBuilder<K, V> builder, Consumer<ChronicleMap<K, V>> reader)
      throws IOException {
    String problem = problem(path);
    if (problem != null || Files.size(path) == 0) {
      return problem;
    }
    Path directory = Files.createTempDirectory("kakehashi-registry");
    try {
      Path copy = Files.copy(path, directory.resolve(path.getFileName()));
      ChronicleMap<K, V> map = null;
      try {
        map = builder.recoverPersistedTo(copy.toFile(), false);
        reader.accept(map);
      } catch (RuntimeException | InternalError e) {
        problem = String.valueOf(e.getMessage());
      } finally {
        closeDamaged(map);
      }
    } finally {
      Directories.delete(directory);
    }
    return problem;
  }

  /// So that this process has no lock of it any more.
  private static void closeDamaged(@Nullable ChronicleMap<?, ?> map) {
    try {
      if (map != null) {
        map.close();
      }
    } catch (RuntimeException | InternalError e) {
      LOG.debug("a damaged transaction registry could not be closed", e);
    }
  }

  /// Problem with the header of a file; null: none that can be seen without the library. The library waits a minute for a header that
  /// nobody will complete.
  static @Nullable String problem(Path path) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      if (file.length() == 0) {
        return null;
      }
      if (file.length() < SIZE_WORD_OFFSET + Integer.BYTES) {
        return "it is shorter than its header";
      }
      file.seek(SIZE_WORD_OFFSET);
      int sizeWord = Integer.reverseBytes(file.readInt());
      if (sizeWord == 0 || (sizeWord & NOT_COMPLETE) != 0) {
        return "its header was never written";
      }
      return file.length() < sizeWord ? "it is shorter than its header" : null;
    }
  }

  private static <K, V> ChronicleMap<K, V> replace(
      Path path, ChronicleMapBuilder<K, V> builder, String problem) throws IOException {
    Path damaged = path.resolveSibling(path.getFileName() + DAMAGED);
    // Under a name of its own: the library may still hold the lock of the other one in this
    // process.
    Path fresh = path.resolveSibling(path.getFileName() + FRESH);
    Files.deleteIfExists(fresh);
    Files.move(path, damaged, StandardCopyOption.REPLACE_EXISTING);
    LOG.warn(
        "transaction registry \"{}\" is damaged and was set aside as \"{}\": {}. No rows depend on it, but nobody can ask any more what became of the transactions before.",
        path,
        damaged,
        problem);
    ChronicleMap<K, V> map = builder.createPersistedTo(fresh.toFile());
    boolean moved = false;
    try {
      Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
      moved = true;
    } finally {
      if (!moved) {
        map.close();
      }
    }
    return map;
  }
}
