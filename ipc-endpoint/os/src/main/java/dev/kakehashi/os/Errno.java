package dev.kakehashi.os;

/// Numbers of errors on Linux, x86-64 and AArch64.
public final class Errno {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int EINTR = 4;
  public static final int EIO = 5;
  public static final int EBADF = 9;
  public static final int EAGAIN = 11;
  public static final int EACCES = 13;
  public static final int EEXIST = 17;
  public static final int EXDEV = 18;
  public static final int ENOTDIR = 20;
  public static final int EISDIR = 21;
  public static final int EINVAL = 22;
  public static final int ENFILE = 23;
  public static final int EMFILE = 24;
  public static final int ENOSPC = 28;
  public static final int EROFS = 30;
  public static final int ENAMETOOLONG = 36;
  public static final int ENOSYS = 38;
  public static final int ENOTEMPTY = 39;
  public static final int ELOOP = 40;
  public static final int EOPNOTSUPP = 95;
  public static final int ETIMEDOUT = 110;
  public static final int EDQUOT = 122;

  private Errno() {}

  /// Text of an error at a file, as the C library says it; for other errors the number.
  public static String reason(int errno) {
    return switch (errno) {
      case EPERM -> "Operation not permitted";
      case ENOENT -> "No such file or directory";
      case EIO -> "Input/output error";
      case EACCES -> "Permission denied";
      case EEXIST -> "File exists";
      case ENOTDIR -> "Not a directory";
      case EISDIR -> "Is a directory";
      case ENFILE, EMFILE -> "Too many open files";
      case ENOSPC -> "No space left on device";
      case EROFS -> "Read-only file system";
      case ENAMETOOLONG -> "File name too long";
      case ENOTEMPTY -> "Directory not empty";
      case EDQUOT -> "Disk quota exceeded";
      default -> "error " + errno + " of the operating system";
    };
  }
}
