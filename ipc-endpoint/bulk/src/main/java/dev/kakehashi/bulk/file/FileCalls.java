package dev.kakehashi.bulk.file;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kakehashi.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Calls of Linux (x86-64 and AArch64) that open and name files relative to an open directory, which Java does not offer. Failures come
/// back as negative errno values. Stateless.
final class FileCalls {
  private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");

  static final int O_RDONLY = 0;
  static final int O_WRONLY = 1;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_NONBLOCK = 0x800;
  static final int O_DIRECTORY = IS_ARM ? 0x4000 : 0x10000;
  static final int O_NOFOLLOW = IS_ARM ? 0x8000 : 0x20000;
  static final int O_CLOEXEC = 0x80000;
  static final int O_PATH = 0x200000;

  /// No `..`, no symbolic links, no links of /proc.
  private static final long RESOLVE_STRICTLY = 0x08 | 0x04 | 0x02;

  /// Symbolic links nowhere, from the root on.
  private static final long RESOLVE_WITHOUT_LINKS = 0x04 | 0x02;

  private static final int AT_FDCWD = -100;
  private static final int AT_EMPTY_PATH = 0x1000;
  private static final int AT_REMOVEDIR = 0x200;
  private static final int STATX_BASIC = 0x7ff;
  private static final int STATX_BYTES = 256;
  private static final int RENAME_NOREPLACE = 1;
  private static final int LOCK_EX_NB = 2 | 4;
  private static final long SYS_OPENAT2 = 437;
  private static final long SYS_GETDENTS64 = IS_ARM ? 61 : 217;
  private static final int OPEN_HOW_BYTES = 24;

  private static final MethodHandle SYSCALL =
      LibC.functionWithErrno(
          "syscall",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG),
          Linker.Option.firstVariadicArg(1));
  private static final MethodHandle OPENAT =
      LibC.functionWithErrno(
          "openat",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(3));
  private static final MethodHandle CLOSE =
      LibC.functionWithErrno("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle STATX =
      LibC.functionWithErrno(
          "statx", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle FCHMOD =
      LibC.functionWithErrno("fchmod", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle FSYNC =
      LibC.functionWithErrno("fsync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle FLOCK =
      LibC.functionWithErrno("flock", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle USER =
      LibC.functionWithErrno("geteuid", FunctionDescriptor.of(JAVA_INT));
  private static final MethodHandle MKDIRAT =
      LibC.functionWithErrno(
          "mkdirat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle UNLINKAT =
      LibC.functionWithErrno(
          "unlinkat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle RENAMEAT =
      LibC.functionWithErrno(
          "renameat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS));
  private static final MethodHandle RENAMEAT2 =
      LibC.functionWithErrno(
          "renameat2",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT));

  private FileCalls() {}

  /// A call that returns -1 and sets errno.
  private interface Call {
    long run(Arena arena, MemorySegment captured) throws Throwable;
  }

  private static int call(String name, Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment captured = LibC.errnoState(arena);
      long result = call.run(arena, captured);
      return (int) LibC.result(result, captured);
    } catch (Throwable t) {
      throw new LinkageError(name, t);
    }
  }

  /// Opens one name, or a path of names, below a directory: nothing outside of it, through no link. ENOSYS on kernels before 5.6, and where
  /// a filter of system calls hides it (EPERM, too).
  static int openBeneath(int directory, String path, int flags, int mode) {
    return openat2(directory, path, flags, mode, RESOLVE_STRICTLY);
  }

  /// Opens an absolute path that goes through no link.
  static int openWithoutLinks(String path, int flags) {
    return openat2(AT_FDCWD, path, flags, 0, RESOLVE_WITHOUT_LINKS);
  }

  private static int openat2(int directory, String path, int flags, int mode, long resolve) {
    return call(
        "openat2",
        (arena, captured) -> {
          MemorySegment how = arena.allocate(OPEN_HOW_BYTES, 8);
          how.set(JAVA_LONG, 0, flags);
          how.set(JAVA_LONG, 8, mode);
          how.set(JAVA_LONG, 16, resolve);
          return (long)
              SYSCALL.invokeExact(
                  captured,
                  SYS_OPENAT2,
                  (long) directory,
                  arena.allocateFrom(path),
                  how,
                  (long) OPEN_HOW_BYTES);
        });
  }

  static int openat(int directory, String path, int flags, int mode) {
    return call(
        "openat",
        (arena, captured) ->
            (int) OPENAT.invokeExact(captured, directory, arena.allocateFrom(path), flags, mode));
  }

  /// Status of the file of a descriptor, also of one that was opened with O_PATH.
  ///
  /// @param into is filled
  static int stat(int descriptor, long[] into) {
    return call(
        "statx",
        (arena, captured) -> {
          MemorySegment buffer = arena.allocate(STATX_BYTES, 8);
          int result =
              (int)
                  STATX.invokeExact(
                      captured,
                      descriptor,
                      arena.allocateFrom(""),
                      AT_EMPTY_PATH,
                      STATX_BASIC,
                      buffer);
          if (result == 0) {
            into[0] = buffer.get(JAVA_SHORT, 28) & 0xffff;
            into[1] = Integer.toUnsignedLong(buffer.get(JAVA_INT, 16));
            into[2] =
                (long) buffer.get(JAVA_INT, 136) << 32
                    | Integer.toUnsignedLong(buffer.get(JAVA_INT, 140));
            into[3] = buffer.get(JAVA_LONG, 32);
            into[4] = buffer.get(JAVA_LONG, 40);
            into[5] = buffer.get(JAVA_LONG, 112);
            into[6] = Integer.toUnsignedLong(buffer.get(JAVA_INT, 120));
            into[7] = buffer.get(JAVA_INT, 20);
          }
          return result;
        });
  }

  /// The user of this process, by number.
  static int user() {
    return call("geteuid", (_, captured) -> (int) USER.invokeExact(captured));
  }

  static int close(int descriptor) {
    return call("close", (_, captured) -> (int) CLOSE.invokeExact(captured, descriptor));
  }

  static int chmod(int descriptor, int mode) {
    return call("fchmod", (_, captured) -> (int) FCHMOD.invokeExact(captured, descriptor, mode));
  }

  static int sync(int descriptor) {
    return call("fsync", (_, captured) -> (int) FSYNC.invokeExact(captured, descriptor));
  }

  /// An exclusive lock that ends with the descriptor; EAGAIN when somebody has it.
  static int lock(int descriptor) {
    return call(
        "flock", (_, captured) -> (int) FLOCK.invokeExact(captured, descriptor, LOCK_EX_NB));
  }

  static int makeDirectory(int directory, String name, int mode) {
    return call(
        "mkdirat",
        (arena, captured) ->
            (int) MKDIRAT.invokeExact(captured, directory, arena.allocateFrom(name), mode));
  }

  static int unlink(int directory, String name) {
    return unlink(directory, name, 0);
  }

  static int removeDirectory(int directory, String name) {
    return unlink(directory, name, AT_REMOVEDIR);
  }

  private static int unlink(int directory, String name, int flags) {
    return call(
        "unlinkat",
        (arena, captured) ->
            (int) UNLINKAT.invokeExact(captured, directory, arena.allocateFrom(name), flags));
  }

  /// Gives a file of a directory another name there.
  ///
  /// @param replaces otherwise EEXIST for a name that is taken; EINVAL from file systems that cannot promise that
  static int rename(int directory, String from, String to, boolean replaces) {
    if (replaces) {
      return call(
          "renameat",
          (arena, captured) ->
              (int)
                  RENAMEAT.invokeExact(
                      captured,
                      directory,
                      arena.allocateFrom(from),
                      directory,
                      arena.allocateFrom(to)));
    }
    return call(
        "renameat2",
        (arena, captured) ->
            (int)
                RENAMEAT2.invokeExact(
                    captured,
                    directory,
                    arena.allocateFrom(from),
                    directory,
                    arena.allocateFrom(to),
                    RENAME_NOREPLACE));
  }

  /// Adds the next names of an open directory.
  ///
  /// @return bytes read; 0: there are no more
  static int list(int directory, MemorySegment buffer, List<String> names) {
    int bytes =
        call(
            "getdents64",
            (_, captured) ->
                (long)
                    SYSCALL.invokeExact(
                        captured,
                        SYS_GETDENTS64,
                        (long) directory,
                        buffer,
                        MemorySegment.ofAddress(buffer.byteSize()),
                        0L));
    for (int at = 0; at < bytes; ) {
      int length = Short.toUnsignedInt(buffer.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + 16));
      String name = buffer.getString(at + 19, StandardCharsets.UTF_8);
      if (!name.equals(".") && !name.equals("..")) {
        names.add(name);
      }
      at += length;
    }
    return bytes;
  }
}
