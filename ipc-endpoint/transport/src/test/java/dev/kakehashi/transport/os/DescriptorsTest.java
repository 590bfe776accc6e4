package dev.kakehashi.transport.os;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Descriptors that go from one process to the other, and what can be done with them there.
@SuppressWarnings("NullAway.Init") // set before each test
class DescriptorsTest {
  private static final byte[] MESSAGE = {1, 2, 3, 4, 5};
  @TempDir Path directory;
  private SocketChannel here;
  private SocketChannel there;

  @BeforeEach
  void connect() throws IOException {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("socket"));
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(address);
      here = SocketChannel.open(address);
      there = server.accept();
    }
    here.configureBlocking(false);
    there.configureBlocking(false);
  }

  @AfterEach
  void disconnect() throws IOException {
    here.close();
    there.close();
  }

  private static void send(SocketChannel channel, Path file) throws IOException {
    int own = Linux.open(file.toString(), Linux.O_RDWR | Linux.O_CLOEXEC, 0);
    assertTrue(own >= 0);
    int readOnly = Descriptors.readOnly(own);
    assertTrue(Descriptors.send(channel, MESSAGE, readOnly));
    Descriptors.close(readOnly);
    Descriptors.close(own);
  }

  private Path file(int... bytes) throws IOException {
    byte[] content = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      content[i] = (byte) bytes[i];
    }
    return Files.write(Files.createTempFile(directory, "file", ""), content);
  }

  private static void assertContent(int descriptor, int first) {
    try (Arena arena = Arena.ofConfined()) {
      // More than the file has.
      MemorySegment memory = ReadOnlyMemory.map(descriptor, 1L << 30, arena);
      assertNotNull(memory);
      assertEquals(first, memory.get(ValueLayout.JAVA_BYTE, 0));
      assertThrows(
          IllegalArgumentException.class, () -> memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 0));
    }
  }

  @Test
  void shouldReceiveBytesAndDescriptors() throws IOException {
    int[] descriptor = {Descriptors.NONE};
    ByteBuffer buffer = ByteBuffer.allocate(MESSAGE.length);
    assertEquals(0, Descriptors.receive(there, buffer, descriptor), "nothing has come");
    send(here, file(7));
    buffer.limit(2);
    assertEquals(2, Descriptors.receive(there, buffer, descriptor));
    assertContent(descriptor[0], 7);
    int first = descriptor[0];
    buffer.limit(MESSAGE.length);
    assertEquals(3, Descriptors.receive(there, buffer, descriptor));
    assertArrayEquals(MESSAGE, buffer.array());
    assertEquals(first, descriptor[0], "no other one");
    send(here, file(8));
    buffer.clear();
    assertEquals(MESSAGE.length, Descriptors.receive(there, buffer, descriptor));
    assertContent(descriptor[0], 8);
    here.close();
    buffer.clear();
    assertEquals(-1, Descriptors.receive(there, buffer, descriptor));
    Descriptors.close(descriptor[0]);
  }

  @Test
  void shouldReceiveBytesWithoutADescriptor() throws IOException {
    int[] descriptor = {Descriptors.NONE};
    assertEquals(MESSAGE.length, here.write(ByteBuffer.wrap(MESSAGE)));
    ByteBuffer buffer = ByteBuffer.allocate(MESSAGE.length + 1);
    assertEquals(MESSAGE.length, Descriptors.receive(there, buffer, descriptor));
    assertEquals(MESSAGE.length, buffer.position());
    assertEquals(Descriptors.NONE, descriptor[0]);
  }

  @Test
  void shouldNotMapWhatIsNoFile() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      assertNull(ReadOnlyMemory.map(Credentials.descriptor(here), 4096, arena));
    }
  }
}
