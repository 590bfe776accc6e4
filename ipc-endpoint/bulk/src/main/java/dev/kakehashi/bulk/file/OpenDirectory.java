package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.Errno;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// An open directory. Everything is found relative to its descriptor, one name at a time and through no link, so nobody can lead elsewhere
/// by renaming. Used by one thread at a time, and closed by its owner.
final class OpenDirectory implements AutoCloseable {
  private static final int DIRECTORY_MODE = 0b111_101_000;
  private static final int LIST_BUFFER_BYTES = 1 << 16;

  /// Longest directory that is listed.
  private static final int MAX_LISTED = 1_000_000;

  /// Identity of a directory that must not be entered.
  record Identity(long device, long inode) {}

  private final int descriptor;
  private final String name;
  private final Set<Identity> forbidden;

  private OpenDirectory(int descriptor, String name, Set<Identity> forbidden) {
    this.descriptor = descriptor;
    this.name = name;
    this.forbidden = forbidden;
  }

  /// Opens the directory of a location.
  ///
  /// @param path absolute
  /// @param name for messages, as a location
  static OpenDirectory open(String path, String name, Set<Identity> forbidden) {
    int flags = FileCalls.O_RDONLY | FileCalls.O_DIRECTORY | FileCalls.O_CLOEXEC;
    int descriptor = FileCalls.openWithoutLinks(path, flags);
    if (isWithoutCall(descriptor)) {
      // Its names were resolved at the start; who may change them is not less than the endpoint's
      // user.
      descriptor = FileCalls.openat(-1, path, flags | FileCalls.O_NOFOLLOW, 0);
    }
    if (descriptor < 0) {
      throw FileFailure.of("could not open directory", name, descriptor);
    }
    return new OpenDirectory(descriptor, name, forbidden).checked();
  }

  private static boolean isWithoutCall(int result) {
    return result == -Errno.ENOSYS || result == -Errno.EPERM;
  }

  private static int openName(int directory, String name, int flags) {
    int result = FileCalls.openBeneath(directory, name, flags, 0);
    return isWithoutCall(result) ? FileCalls.openat(directory, name, flags, 0) : result;
  }

  private OpenDirectory checked() {
    boolean done = false;
    try {
      FileStatus status = FileStatus.of(descriptor, name);
      if (forbidden.contains(new Identity(status.device(), status.inode()))) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE,
            "\"" + name + "\" is a directory of the endpoint itself");
      }
      done = true;
      return this;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private String nameOf(String child) {
    return name.endsWith(":") || name.endsWith("/") ? name + child : name + "/" + child;
  }

  /// A directory in this one.
  OpenDirectory child(String child) {
    int opened = openName(descriptor, child, directoryFlags());
    if (opened < 0) {
      throw FileFailure.of("could not open directory", nameOf(child), opened);
    }
    return new OpenDirectory(opened, nameOf(child), forbidden).checked();
  }

  private static int directoryFlags() {
    return FileCalls.O_RDONLY | FileCalls.O_DIRECTORY | FileCalls.O_NOFOLLOW | FileCalls.O_CLOEXEC;
  }

  /// Makes a directory unless it is there, 0750.
  void make(String child) {
    int result = FileCalls.makeDirectory(descriptor, child, DIRECTORY_MODE);
    if (result < 0 && result != -Errno.EEXIST) {
      throw FileFailure.of("could not make directory", nameOf(child), result);
    }
    if (result == 0) {
      // Whatever the umask: who may read the files has to get at them.
      try (OpenDirectory made = child(child)) {
        int changed = FileCalls.chmod(made.descriptor, DIRECTORY_MODE);
        if (changed < 0) {
          throw FileFailure.of("could not make directory", nameOf(child), changed);
        }
      }
      sync();
    }
  }

  /// Opens a regular file that has no other names.
  ///
  /// @param name of it as a location, for messages
  OpenedFile file(String child, String name) {
    int opened =
        openName(descriptor, child, FileCalls.O_PATH | FileCalls.O_NOFOLLOW | FileCalls.O_CLOEXEC);
    if (opened < 0) {
      throw FileFailure.of("could not open file", name, opened);
    }
    return OpenedFile.of(opened, name);
  }

  /// Whether a name is taken, by whatever it is.
  boolean has(String child) {
    int opened =
        FileCalls.openat(
            descriptor, child, FileCalls.O_PATH | FileCalls.O_NOFOLLOW | FileCalls.O_CLOEXEC, 0);
    if (opened >= 0) {
      FileCalls.close(opened);
    }
    return opened != -Errno.ENOENT;
  }

  /// Whether a name is a directory's; not, if it is a link to one.
  boolean isDirectory(String child) {
    int opened =
        FileCalls.openat(
            descriptor,
            child,
            FileCalls.O_PATH | FileCalls.O_DIRECTORY | FileCalls.O_NOFOLLOW | FileCalls.O_CLOEXEC,
            0);
    if (opened >= 0) {
      FileCalls.close(opened);
    }
    return opened >= 0;
  }

  /// Makes a file that was not there, for writing.
  ///
  /// @return its descriptor, the caller's; negative: the error
  int create(String child, int mode) {
    return FileCalls.openat(
        descriptor,
        child,
        FileCalls.O_WRONLY
            | FileCalls.O_CREAT
            | FileCalls.O_EXCL
            | FileCalls.O_NOFOLLOW
            | FileCalls.O_CLOEXEC,
        mode);
  }

  /// @return 0, or the negative error
  int rename(String from, String to, boolean replaces) {
    int result = FileCalls.rename(descriptor, from, to, replaces);
    if (result == -Errno.EINVAL && !replaces) {
      // A file system without the promise: the name is looked at first.
      return has(to) ? -Errno.EEXIST : FileCalls.rename(descriptor, from, to, true);
    }
    return result;
  }

  /// @return 0, or the negative error
  int unlink(String child) {
    return FileCalls.unlink(descriptor, child);
  }

  /// @return 0, or the negative error
  int removeDirectory(String child) {
    return FileCalls.removeDirectory(descriptor, child);
  }

  /// Returns when the names survive power loss.
  void sync() {
    int result = FileCalls.sync(descriptor);
    // Some file systems have no such call for directories.
    if (result < 0 && result != -Errno.EINVAL) {
      throw FileFailure.of("could not synchronize directory", name, result);
    }
  }

  /// Opens a file for a lock on it: the lock's, or a negative error.
  int openForLock(String child) {
    return openName(
        descriptor,
        child,
        FileCalls.O_RDONLY | FileCalls.O_NONBLOCK | FileCalls.O_NOFOLLOW | FileCalls.O_CLOEXEC);
  }

  /// Names in it, in no order.
  ///
  /// @throws EngineException LIMIT_EXCEEDED for too many
  List<String> list() {
    // The position is the descriptor's: each list has its own.
    int opened = openName(descriptor, ".", directoryFlags());
    if (opened < 0) {
      throw FileFailure.of("could not list directory", name, opened);
    }
    List<String> names = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(LIST_BUFFER_BYTES, 8);
      int read;
      do {
        read = FileCalls.list(opened, buffer, names);
        if (read < 0) {
          throw FileFailure.of("could not list directory", name, read);
        }
        if (names.size() > MAX_LISTED) {
          throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "directory \"%s\" has more than %d files".formatted(name, MAX_LISTED));
        }
      } while (read > 0);
    } finally {
      FileCalls.close(opened);
    }
    return names;
  }

  FileStatus status() {
    return FileStatus.of(descriptor, name);
  }

  @Override
  public void close() {
    FileCalls.close(descriptor);
  }
}
