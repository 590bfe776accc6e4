package dev.kakehashi.transport.os;

import dev.kakehashi.os.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Collection;

/// POSIX access control lists, in the form of the `system.posix_acl_*` attributes.
public final class AccessControl {
  /// Read, write, execute.
  public static final int RWX = 7;

  public static final int RW = 6;
  public static final int RX = 5;
  public static final int R = 4;

  private static final int VERSION = 2;
  private static final short USER_OBJ = 0x01;
  private static final short USER = 0x02;
  private static final short GROUP_OBJ = 0x04;
  private static final short MASK = 0x10;
  private static final short OTHER = 0x20;

  /// Lets the users `uids` besides owner and group access `path`.
  ///
  /// @param mode permissions of owner, group and others, as for chmod
  /// @param permissions of each of the users
  /// @throws IOException also when the file system has no access control lists
  public static void allow(Path path, int mode, Collection<Integer> uids, int permissions)
      throws IOException {
    set(path, "system.posix_acl_access", mode, uids, permissions);
  }

  /// The same for files that will be made in the directory `path`.
  public static void allowInside(Path path, int mode, Collection<Integer> uids, int permissions)
      throws IOException {
    set(path, "system.posix_acl_default", mode, uids, permissions);
  }

  private static void set(
      Path path, String attribute, int mode, Collection<Integer> uids, int permissions)
      throws IOException {
    ByteBuffer acl = ByteBuffer.allocate(4 + 8 * (4 + uids.size())).order(ByteOrder.LITTLE_ENDIAN);
    acl.putInt(VERSION);
    entry(acl, USER_OBJ, (mode >> 6) & 7, -1);
    uids.stream().sorted().forEach(uid -> entry(acl, USER, permissions, uid));
    entry(acl, GROUP_OBJ, (mode >> 3) & 7, -1);
    entry(acl, MASK, ((mode >> 3) & 7) | permissions, -1);
    entry(acl, OTHER, mode & 7, -1);
    int result = Linux.setxattr(path.toString(), attribute, acl.array());
    if (result == -Errno.EOPNOTSUPP) {
      throw new IOException(
          "file system of \"" + path + "\" does not support access control lists");
    }
    if (result < 0) {
      throw new IOException(
          "could not set access control list of \"" + path + "\": errno " + -result);
    }
  }

  private static void entry(ByteBuffer acl, short tag, int permissions, int id) {
    acl.putShort(tag).putShort((short) permissions).putInt(id);
  }

  private AccessControl() {}
}
