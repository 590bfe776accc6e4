package dev.kakehashi.transport.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// System calls that the JDK does not offer, on Linux x86-64 and AArch64. Failures come back as negative errno values.
@SuppressWarnings("restricted")
final class Linux {
  static final int EAGAIN = 11;
  static final int EINTR = 4;
  static final int ENOSPC = 28;
  static final int ETIMEDOUT = 110;
  static final int EOPNOTSUPP = 95;

  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_CLOEXEC = 0x80000;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CAPTURE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

  private static final MethodHandle FUTEX =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("syscall"),
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
          Linker.Option.firstVariadicArg(1),
          CAPTURE_ERRNO);
  private static final MethodHandle OPEN =
      function(
          "open",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle CLOSE =
      function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle FALLOCATE =
      function(
          "fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle FTRUNCATE =
      function("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle FCHMOD =
      function("fchmod", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle SETXATTR =
      function(
          "setxattr",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT));
  private static final MethodHandle GETSOCKOPT =
      function(
          "getsockopt",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
  private static final MethodHandle SOCKET =
      function("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle SENDTO =
      function(
          "sendto",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle UMASK =
      function("umask", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle GETUID = function("getuid", FunctionDescriptor.of(JAVA_INT));
  private static final MethodHandle GETGID = function("getgid", FunctionDescriptor.of(JAVA_INT));

  private static final long SYS_FUTEX = System.getProperty("os.arch").equals("aarch64") ? 98 : 202;

  private static MethodHandle function(
      String name, FunctionDescriptor descriptor, Linker.Option... options) {
    Linker.Option[] all = java.util.Arrays.copyOf(options, options.length + 1);
    all[options.length] = CAPTURE_ERRNO;
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor, all);
  }

  /// Where a call leaves its errno; one per thread, so that no call allocates.
  private static final ThreadLocal<MemorySegment> CAPTURED =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CAPTURE));

  /// `timeout` of the thread's futex waits: struct timespec.
  private static final ThreadLocal<MemorySegment> TIMESPEC =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(16, 8));

  private static int negativeErrno(MemorySegment captured) {
    return -(int) ERRNO.get(captured, 0L);
  }

  /// FUTEX_WAIT or FUTEX_WAKE on a word shared between processes.
  static int futexWait(MemorySegment word, int expected, long timeoutNanos) {
    MemorySegment timespec = MemorySegment.NULL;
    if (timeoutNanos >= 0) {
      timespec = TIMESPEC.get();
      timespec.set(JAVA_LONG, 0, timeoutNanos / 1_000_000_000L);
      timespec.set(JAVA_LONG, 8, timeoutNanos % 1_000_000_000L);
    }
    return futex(word, 0, expected, timespec);
  }

  static int futexWake(MemorySegment word, int count) {
    return futex(word, 1, count, MemorySegment.NULL);
  }

  private static int futex(MemorySegment word, int operation, int value, MemorySegment timespec) {
    MemorySegment captured = CAPTURED.get();
    try {
      long result =
          (long)
              FUTEX.invokeExact(
                  captured, SYS_FUTEX, word, (long) operation, (long) value, timespec, 0L, 0L);
      return result < 0 ? negativeErrno(captured) : (int) result;
    } catch (Throwable t) {
      throw new LinkageError("futex", t);
    }
  }

  static int open(String path, int flags, int mode) {
    MemorySegment captured = CAPTURED.get();
    try (Arena arena = Arena.ofConfined()) {
      int fd = (int) OPEN.invokeExact(captured, arena.allocateFrom(path), flags, mode);
      return fd < 0 ? negativeErrno(captured) : fd;
    } catch (Throwable t) {
      throw new LinkageError("open", t);
    }
  }

  static void close(int fd) {
    try {
      int ignored = (int) CLOSE.invokeExact(CAPTURED.get(), fd);
    } catch (Throwable t) {
      throw new LinkageError("close", t);
    }
  }

  static int fallocate(int fd, int mode, long offset, long bytes) {
    MemorySegment captured = CAPTURED.get();
    try {
      int result;
      do {
        result = (int) FALLOCATE.invokeExact(captured, fd, mode, offset, bytes);
      } while (result < 0 && negativeErrno(captured) == -EINTR);
      return result < 0 ? negativeErrno(captured) : 0;
    } catch (Throwable t) {
      throw new LinkageError("fallocate", t);
    }
  }

  static int ftruncate(int fd, long bytes) {
    MemorySegment captured = CAPTURED.get();
    try {
      int result = (int) FTRUNCATE.invokeExact(captured, fd, bytes);
      return result < 0 ? negativeErrno(captured) : 0;
    } catch (Throwable t) {
      throw new LinkageError("ftruncate", t);
    }
  }

  static int fchmod(int fd, int mode) {
    MemorySegment captured = CAPTURED.get();
    try {
      int result = (int) FCHMOD.invokeExact(captured, fd, mode);
      return result < 0 ? negativeErrno(captured) : 0;
    } catch (Throwable t) {
      throw new LinkageError("fchmod", t);
    }
  }

  static int setxattr(String path, String name, byte[] value) {
    MemorySegment captured = CAPTURED.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(Math.max(1, value.length));
      bytes.copyFrom(MemorySegment.ofArray(value));
      int result =
          (int)
              SETXATTR.invokeExact(
                  captured,
                  arena.allocateFrom(path),
                  arena.allocateFrom(name),
                  bytes,
                  (long) value.length,
                  0);
      return result < 0 ? negativeErrno(captured) : 0;
    } catch (Throwable t) {
      throw new LinkageError("setxattr", t);
    }
  }

  /// SO_PEERCRED: pid, uid, gid; or the negative errno alone.
  static int[] peerCredentials(int fd) {
    final int solSocket = 1;
    final int soPeercred = 17;
    MemorySegment captured = CAPTURED.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(12, 4);
      MemorySegment length = arena.allocateFrom(JAVA_INT, 12);
      int result = (int) GETSOCKOPT.invokeExact(captured, fd, solSocket, soPeercred, value, length);
      return result < 0 ? new int[] {negativeErrno(captured)} : value.toArray(JAVA_INT);
    } catch (Throwable t) {
      throw new LinkageError("getsockopt", t);
    }
  }

  /// Sends one datagram to a Unix socket; never waits.
  ///
  /// @param name path, or zero and an abstract name; less than 108 bytes
  static int sendDatagram(byte[] name, byte[] message) {
    final short afUnix = 1;
    final int datagramCloseOnExec = 2 | O_CLOEXEC;
    final int dontWaitNoSignal = 0x40 | 0x4000;
    MemorySegment captured = CAPTURED.get();
    int fd = -1;
    try (Arena arena = Arena.ofConfined()) {
      // struct sockaddr_un; a path ends with a zero, an abstract name with the length
      MemorySegment address = arena.allocate(2L + name.length + 1, 2);
      address.set(JAVA_SHORT, 0, afUnix);
      MemorySegment.copy(name, 0, address, JAVA_BYTE, 2, name.length);
      int addressBytes = 2 + name.length + (name[0] == 0 ? 0 : 1);
      fd = (int) SOCKET.invokeExact(captured, (int) afUnix, datagramCloseOnExec, 0);
      if (fd < 0) {
        return negativeErrno(captured);
      }
      long sent =
          (long)
              SENDTO.invokeExact(
                  captured,
                  fd,
                  arena.allocateFrom(JAVA_BYTE, message),
                  (long) message.length,
                  dontWaitNoSignal,
                  address,
                  addressBytes);
      return sent < 0 ? negativeErrno(captured) : 0;
    } catch (Throwable t) {
      throw new LinkageError("sendto", t);
    } finally {
      if (fd >= 0) {
        close(fd);
      }
    }
  }

  /// The mask before.
  static int umask(int mask) {
    try {
      return (int) UMASK.invokeExact(CAPTURED.get(), mask);
    } catch (Throwable t) {
      throw new LinkageError("umask", t);
    }
  }

  static int getuid() {
    try {
      return (int) GETUID.invokeExact(CAPTURED.get());
    } catch (Throwable t) {
      throw new LinkageError("getuid", t);
    }
  }

  static int getgid() {
    try {
      return (int) GETGID.invokeExact(CAPTURED.get());
    } catch (Throwable t) {
      throw new LinkageError("getgid", t);
    }
  }

  private Linux() {}
}
