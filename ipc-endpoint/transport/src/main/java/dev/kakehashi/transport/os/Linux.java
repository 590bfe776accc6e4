package dev.kakehashi.transport.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kakehashi.os.Errno;
import dev.kakehashi.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/// System calls that the JDK does not offer, on Linux x86-64 and AArch64. Failures come back as negative errno values.
final class Linux {
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_CLOEXEC = 0x80000;

  /// All calls by one handle: the JVM makes code for each shape of a call, which takes longer than all else that a client does when it
  /// attaches.
  private static final MethodHandle SYSCALL =
      LibC.functionWithErrno(
          "syscall",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG),
          Linker.Option.firstVariadicArg(1));

  private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");

  // Numbers of the kernel's calls.
  private static final int FUTEX = number(202, 98);
  private static final int OPENAT = number(257, 56);
  private static final int CLOSE = number(3, 57);
  private static final int FALLOCATE = number(285, 47);
  private static final int FTRUNCATE = number(77, 46);
  private static final int FCHMOD = number(91, 52);
  private static final int SETXATTR = number(188, 5);
  private static final int GETSOCKOPT = number(55, 209);
  private static final int SOCKET = number(41, 198);
  private static final int SENDTO = number(44, 206);
  private static final int SENDMSG = number(46, 211);
  private static final int RECVMSG = number(47, 212);
  private static final int MMAP = number(9, 222);
  private static final int MUNMAP = number(11, 215);
  private static final int UMASK = number(95, 166);
  private static final int GETUID = number(102, 174);
  private static final int GETGID = number(104, 176);

  private static int number(int x86, int arm) {
    return IS_ARM ? arm : x86;
  }

  private static final int AT_FDCWD = -100;

  /// Where a call leaves its errno; one per thread, so that no call allocates.
  private static final ThreadLocal<MemorySegment> CAPTURED =
      ThreadLocal.withInitial(() -> LibC.errnoState(Arena.ofAuto()));

  /// `timeout` of the thread's futex waits: struct timespec.
  private static final ThreadLocal<MemorySegment> TIMESPEC =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(16, 8));

  /// Result, or the negative errno. Addresses are numbers here: a caller keeps the memory until the call has ended.
  private static long call(int number, long a, long b, long c, long d, long e, long f) {
    MemorySegment captured = CAPTURED.get();
    long result;
    try {
      result = (long) SYSCALL.invokeExact(captured, (long) number, a, b, c, d, e, f);
    } catch (Throwable t) {
      throw new LinkageError("system call " + number, t);
    }
    return LibC.result(result, captured);
  }

  private static int call(int number, long a, long b, long c, long d) {
    return (int) call(number, a, b, c, d, 0, 0);
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
    try {
      return call(FUTEX, word.address(), operation, value, timespec.address());
    } finally {
      Reference.reachabilityFence(word);
    }
  }

  static int open(String path, int flags, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      return call(OPENAT, AT_FDCWD, arena.allocateFrom(path).address(), flags, mode);
    }
  }

  static void close(int fd) {
    int ignored = call(CLOSE, fd, 0, 0, 0);
  }

  static int fallocate(int fd, int mode, long offset, long bytes) {
    int result;
    do {
      result = call(FALLOCATE, fd, mode, offset, bytes);
    } while (result == -Errno.EINTR);
    return result;
  }

  static int ftruncate(int fd, long bytes) {
    return call(FTRUNCATE, fd, bytes, 0, 0);
  }

  static int fchmod(int fd, int mode) {
    return call(FCHMOD, fd, mode, 0, 0);
  }

  static int setxattr(String path, String name, byte[] value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(Math.max(1, value.length));
      bytes.copyFrom(MemorySegment.ofArray(value));
      return (int)
          call(
              SETXATTR,
              arena.allocateFrom(path).address(),
              arena.allocateFrom(name).address(),
              bytes.address(),
              value.length,
              0,
              0);
    }
  }

  /// SO_PEERCRED: pid, uid, gid; or the negative errno alone.
  static int[] peerCredentials(int fd) {
    final int solSocket = 1;
    final int soPeercred = 17;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(12, 4);
      MemorySegment length = arena.allocateFrom(JAVA_INT, 12);
      int result =
          (int) call(GETSOCKOPT, fd, solSocket, soPeercred, value.address(), length.address(), 0);
      return result < 0 ? new int[] {result} : value.toArray(JAVA_INT);
    }
  }

  /// Sends bytes and a descriptor over a connected Unix socket.
  ///
  /// @return bytes that have gone, with the first of them the descriptor; or the negative errno
  static int sendDescriptor(int socket, byte[] message, int descriptor) {
    final int solSocket = 1;
    final int scmRights = 1;
    final int messageNoSignal = 0x4000;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, message);
      MemorySegment vector = arena.allocate(16, 8);
      vector.set(ValueLayout.JAVA_LONG, 0, bytes.address());
      vector.set(ValueLayout.JAVA_LONG, 8, message.length);
      // struct cmsghdr, and an int behind it.
      MemorySegment control = arena.allocate(24, 8);
      control.set(ValueLayout.JAVA_LONG, 0, 20);
      control.set(JAVA_INT, 8, solSocket);
      control.set(JAVA_INT, 12, scmRights);
      control.set(JAVA_INT, 16, descriptor);
      // struct msghdr.
      MemorySegment header = arena.allocate(56, 8);
      header.set(ValueLayout.JAVA_LONG, 16, vector.address());
      header.set(ValueLayout.JAVA_LONG, 24, 1);
      header.set(ValueLayout.JAVA_LONG, 32, control.address());
      header.set(ValueLayout.JAVA_LONG, 40, control.byteSize());
      return call(SENDMSG, socket, header.address(), messageNoSignal, 0);
    }
  }

  /// Receives bytes of a connected Unix socket, and a descriptor that comes with them; never waits.
  ///
  /// @param descriptor gets the descriptor, which is closed on exec and the caller's from now on; stays as it is if none comes
  /// @return bytes that have come, 0 at the end; or the negative errno
  static int receiveDescriptor(int socket, byte[] bytes, int at, int count, int[] descriptor) {
    final int solSocket = 1;
    final int scmRights = 1;
    final int descriptorMessageBytes = 20;
    final long closeOnExecDontWait = 0x4000_0000L | 0x40;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(Math.max(1, count));
      MemorySegment vector = arena.allocate(16, 8);
      vector.set(JAVA_LONG, 0, room.address());
      vector.set(JAVA_LONG, 8, count);
      // struct cmsghdr, and room for one int behind it: the kernel closes what does not fit.
      MemorySegment control = arena.allocate(24, 8);
      // struct msghdr.
      MemorySegment header = arena.allocate(56, 8);
      header.set(JAVA_LONG, 16, vector.address());
      header.set(JAVA_LONG, 24, 1);
      header.set(JAVA_LONG, 32, control.address());
      header.set(JAVA_LONG, 40, control.byteSize());
      int received = (int) call(RECVMSG, socket, header.address(), closeOnExecDontWait, 0, 0, 0);
      if (received < 0) {
        return received;
      }
      if (header.get(JAVA_LONG, 40) >= descriptorMessageBytes
          && control.get(JAVA_LONG, 0) == descriptorMessageBytes
          && control.get(JAVA_INT, 8) == solSocket
          && control.get(JAVA_INT, 12) == scmRights) {
        descriptor[0] = control.get(JAVA_INT, 16);
      }
      MemorySegment.copy(room, JAVA_BYTE, 0, bytes, at, received);
      return received;
    }
  }

  /// Maps a file from its begin on, shared, for reading alone, without memory that is set aside for it.
  ///
  /// @return the address; or the negative errno
  static long mapForReading(int fd, long bytes) {
    final int read = 1;
    final int sharedNoReserve = 0x01 | 0x4000;
    return call(MMAP, 0, bytes, read, sharedNoReserve, fd, 0);
  }

  static void unmap(long address, long bytes) {
    long ignored = call(MUNMAP, address, bytes, 0, 0, 0, 0);
  }

  /// Sends one datagram to a Unix socket; never waits.
  ///
  /// @param name path, or zero and an abstract name; less than 108 bytes
  static int sendDatagram(byte[] name, byte[] message) {
    final short afUnix = 1;
    final int datagramCloseOnExec = 2 | O_CLOEXEC;
    final int dontWaitNoSignal = 0x40 | 0x4000;
    int fd = call(SOCKET, afUnix, datagramCloseOnExec, 0, 0);
    if (fd < 0) {
      return fd;
    }
    try (Arena arena = Arena.ofConfined()) {
      // struct sockaddr_un; a path ends with a zero, an abstract name with the length
      MemorySegment address = arena.allocate(2L + name.length + 1, 2);
      address.set(JAVA_SHORT, 0, afUnix);
      MemorySegment.copy(name, 0, address, JAVA_BYTE, 2, name.length);
      int addressBytes = 2 + name.length + (name[0] == 0 ? 0 : 1);
      long sent =
          call(
              SENDTO,
              fd,
              arena.allocateFrom(JAVA_BYTE, message).address(),
              message.length,
              dontWaitNoSignal,
              address.address(),
              addressBytes);
      return sent < 0 ? (int) sent : 0;
    } finally {
      close(fd);
    }
  }

  /// The mask before.
  static int umask(int mask) {
    return call(UMASK, mask, 0, 0, 0);
  }

  static int getuid() {
    return call(GETUID, 0, 0, 0, 0);
  }

  static int getgid() {
    return call(GETGID, 0, 0, 0, 0);
  }

  private Linux() {}
}
