package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.AccessControl;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The runtime directory of one incarnation: locked, emptied and filled anew.
///
/// Files of an earlier incarnation are unlinked, never truncated: its clients may still have them mapped. Access of other OS users:
/// with a group, directories are 0750 and what clients need is open to the group; users named one by one get entries in access control
/// lists. Files of one principal (queues, mailboxes, arena) are open to that principal alone.
public final class RuntimeDirectory implements AutoCloseable {
  /// Locked as long as its endpoint runs; processes that read the response of an attached client look at it.
  private static final String LOCK = "lock";

  private static final Logger LOG = LoggerFactory.getLogger(RuntimeDirectory.class);

  private final Path path;
  private final FileChannel lockChannel;
  private final List<Integer> allowedUids;
  private final @Nullable GroupPrincipal group;
  private final int ownUid = Credentials.ownUid();

  private RuntimeDirectory(
      Path path,
      FileChannel lockChannel,
      List<Integer> allowedUids,
      @Nullable GroupPrincipal group) {
    this.path = path;
    this.lockChannel = lockChannel;
    this.allowedUids = allowedUids;
    this.group = group;
  }

  private final AtomicBoolean closed = new AtomicBoolean();

  /// Locks the directory, which is made if need be, and empties it.
  ///
  /// @throws TransportException when another endpoint runs there, or the directory cannot be used
  public static RuntimeDirectory open(TransportConfig config) {
    Path path = config.runtimeDirectory().toAbsolutePath();
    try {
      Path parent = path.getParent();
      makeParents(parent);
      if (Files.notExists(path)) {
        Files.createDirectory(path);
      }
      setMode(path, 0700);
      GroupPrincipal group = group(path, config.access().group());
      List<Integer> uids = uids(config.access().users());
      FileChannel lock = lock(path);
      empty(path);
      RuntimeDirectory directory = new RuntimeDirectory(path, lock, uids, group);
      directory.share(path, true);
      directory.share(path.resolve(LOCK), true);
      for (String name : List.of("queues", "mailboxes", "arena")) {
        Path child = Files.createDirectory(path.resolve(name));
        directory.share(child, true);
      }
      return directory;
    } catch (IOException e) {
      throw new TransportException(
          ErrorCode.INTERNAL_ERROR,
          "could not use runtime directory \"" + path + "\": " + reason(e),
          e);
    }
  }

  public Path path() {
    return path;
  }

  public Path queues() {
    return path.resolve("queues");
  }

  public Path mailboxes() {
    return path.resolve("mailboxes");
  }

  public Path arena() {
    return path.resolve("arena");
  }

  public Path socket() {
    return path.resolve("endpoint.sock");
  }

  /// Whether an OS user was given access by configuration; being able to open the socket as a member of the group counts too.
  boolean admits(int uid) {
    return uid == ownUid || uid == 0 || group != null || allowedUids.contains(uid);
  }

  /// Opens a file or directory that every client needs to the group and the users.
  ///
  /// @param readOnly clients read it; else they write it too (doorbell, socket)
  void share(Path target, boolean readOnly) throws IOException {
    boolean directory = Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS);
    int shared = directory ? AccessControl.RX : readOnly ? AccessControl.R : AccessControl.RW;
    int mode = directory ? 0700 : 0600;
    if (group != null) {
      PosixFileAttributeView view =
          Files.getFileAttributeView(target, PosixFileAttributeView.class);
      view.setGroup(group);
      mode |= shared << 3;
    }
    setMode(target, mode);
    if (!allowedUids.isEmpty()) {
      AccessControl.allow(target, mode, allowedUids, shared);
    }
  }

  /// Opens a file of one principal to it.
  void shareWith(int uid, Path file) throws IOException {
    if (uid != ownUid && uid != 0) {
      AccessControl.allow(file, 0600, List.of(uid), AccessControl.RW);
    }
  }

  /// Opens a directory of one principal, and what will be made in it, to it and to us.
  void shareDirectoryWith(int uid, Path directory) throws IOException {
    setMode(directory, 0700);
    if (uid != ownUid) {
      // Files are made by either side: each has to reach those of the other.
      List<Integer> both = List.of(uid, ownUid);
      AccessControl.allow(directory, 0700, both, AccessControl.RWX);
      AccessControl.allowInside(directory, 0700, both, AccessControl.RWX);
    }
  }

  /// Makes directories that others may go through, whatever the umask.
  private static void makeParents(@Nullable Path directory) throws IOException {
    if (directory == null || Files.exists(directory)) {
      return;
    }
    makeParents(directory.getParent());
    try {
      Files.createDirectory(directory);
      setMode(directory, 0755);
    } catch (FileAlreadyExistsException e) {
      // Another endpoint that starts has made it; that it is none shows in a moment.
      LOG.debug("\"{}\" is there by now", directory, e);
    }
  }

  private static FileChannel lock(Path path) throws IOException {
    FileChannel channel =
        FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return channel;
      }
    } catch (OverlappingFileLockException e) {
      // This process has it: reported below like any other owner.
    }
    channel.close();
    throw new TransportException(
        ErrorCode.CANNOT_CONNECT,
        "runtime directory \"" + path + "\" is in use by another endpoint",
        "",
        "Stop that endpoint, or choose another instance name or runtime directory.",
        null);
  }

  private static void empty(Path root) throws IOException {
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (!file.equals(root.resolve(LOCK))) {
              Files.delete(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException error)
              throws IOException {
            if (error != null) {
              throw error;
            }
            if (!directory.equals(root)) {
              Files.delete(directory);
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static @Nullable GroupPrincipal group(Path path, String name) throws IOException {
    return name.isEmpty()
        ? null
        : path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(name);
  }

  private static List<Integer> uids(List<String> users) throws IOException {
    List<Integer> uids = new ArrayList<>();
    for (String user : users) {
      int uid = Credentials.uidOf(user);
      if (uid < 0) {
        throw new TransportException(
            ErrorCode.INVALID_PARAMETER_VALUE, "OS user \"" + user + "\" does not exist");
      }
      uids.add(uid);
    }
    return uids;
  }

  private static void setMode(Path path, int mode) throws IOException {
    Set<PosixFilePermission> permissions = java.util.EnumSet.noneOf(PosixFilePermission.class);
    PosixFilePermission[] all =
        PosixFilePermission.values(); // owner r, w, x, group ..., others ...
    for (int i = 0; i < all.length; i++) {
      if ((mode & 0400 >> i) != 0) {
        permissions.add(all[i]);
      }
    }
    Files.setPosixFilePermissions(path, permissions);
  }

  static String reason(IOException e) {
    return e.getClass().getSimpleName() + ": " + e.getMessage();
  }

  /// Removes what this incarnation made and releases the lock. Clients that are still attached keep their mappings. Closing it again does
  /// nothing.
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return; // another endpoint may have it now
    }
    try (lockChannel) {
      empty(path);
      Files.deleteIfExists(path.resolve(LOCK));
    } catch (IOException e) {
      throw new TransportException(
          ErrorCode.INTERNAL_ERROR,
          "could not clear runtime directory \"" + path + "\": " + reason(e),
          e);
    }
  }
}
