package dev.kakehashi.transport.os;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Descriptors of this process, and copies of them for others. Stateless.
public final class Descriptors {
  private static final int READ_ONLY_CLOSE_ON_EXEC = 0x80000;
  private static final int TRY_AGAIN = -11;
  private static final int INTERRUPTED = -4;

  /// No descriptor.
  public static final int NONE = -1;

  private Descriptors() {}

  /// Another descriptor of an open file, for reading alone: who gets a copy cannot map the file for writing.
  ///
  /// @return the caller closes it, by [#close]
  /// @throws IOException the system refuses
  public static int readOnly(int descriptor) throws IOException {
    int opened = Linux.open("/proc/self/fd/" + descriptor, READ_ONLY_CLOSE_ON_EXEC, 0);
    if (opened < 0) {
      throw new IOException("could not open shared memory for reading: errno " + -opened);
    }
    return opened;
  }

  public static void close(int descriptor) {
    Linux.close(descriptor);
  }

  /// Sends bytes with a copy of a descriptor.
  ///
  /// @param channel connected Unix socket that does not block
  /// @return whether they have gone whole
  public static boolean send(SocketChannel channel, byte[] message, int descriptor)
      throws IOException {
    int sent = Linux.sendDescriptor(Credentials.descriptor(channel), message, descriptor);
    if (sent < 0 && sent != TRY_AGAIN) {
      throw new IOException("could not send a descriptor: errno " + -sent);
    }
    return sent == message.length;
  }

  /// As [SocketChannel#read(ByteBuffer)], and takes a descriptor that comes with the bytes.
  ///
  /// @param channel connected Unix socket that does not block
  /// @param buffer with an array
  /// @param descriptor gets the descriptor, which the caller closes; the one that was there is closed before. -1: there is none
  /// @return bytes that have come; 0: none are there yet, -1: no more will come
  public static int receive(SocketChannel channel, ByteBuffer buffer, int[] descriptor)
      throws IOException {
    int[] came = {NONE};
    int received =
        Linux.receiveDescriptor(
            Credentials.descriptor(channel),
            buffer.array(),
            buffer.arrayOffset() + buffer.position(),
            buffer.remaining(),
            came);
    if (came[0] != NONE) {
      if (descriptor[0] != NONE) {
        close(descriptor[0]);
      }
      descriptor[0] = came[0];
    }
    if (received == TRY_AGAIN || received == INTERRUPTED) {
      return 0;
    }
    if (received < 0) {
      throw new IOException("could not receive: errno " + -received);
    }
    buffer.position(buffer.position() + received);
    return received == 0 ? -1 : received;
  }
}
