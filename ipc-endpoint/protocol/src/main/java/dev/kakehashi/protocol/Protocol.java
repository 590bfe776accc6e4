package dev.kakehashi.protocol;

/// Numbers that both sides know without asking (PROTOCOL.md); every limit is published by the endpoint instead.
public final class Protocol {
  /// Version of schema/messages.xml.
  public static final int PROTOCOL_VERSION = 9;

  /// Version of schema/layouts.xml.
  public static final int LAYOUT_VERSION = 1;

  /// Id of schema/messages.xml in each message header.
  public static final int SCHEMA_ID = 1;

  /// The bytes KKKSHI01 at the beginning of the control page.
  public static final long CONTROL_MAGIC = 0x31304948534b4b4bL;

  /// Slot of a request that wants no response.
  public static final int NO_SLOT = 0xFFFF;

  /// Offset of a batch that lies in the slot's inline area.
  public static final long INLINE = -1L;

  /// Longest text or byte string within a message.
  public static final int MAX_VAR_DATA_BYTES = 1 << 20;

  /// Longest frame on the attach socket; an Attach with texts of a reasonable length is far below.
  public static final int MAX_SOCKET_FRAME_BYTES = 64 << 10;

  /// Longest message of the authentication, in either direction, in bytes.
  public static final int MAX_AUTHENTICATION_BYTES = 1024;

  /// Bytes of the header that leads every message.
  public static final int MESSAGE_HEADER_BYTES = 8;

  private Protocol() {}
}
