package dev.kakehashi.protocol;

import dev.kakehashi.protocol.messages.AttachDecoder;
import dev.kakehashi.protocol.messages.AttachedDecoder;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.MessageHeaderDecoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.sbe.MessageDecoderFlyweight;

/// Checked access to frames that another process wrote.
///
/// The codecs check each access against the buffer they wrap, so a buffer has to wrap exactly the frame, in memory of our own. They check
/// neither a length before they allocate for it nor the header: that is done here. After these checks a decoder either delivers fields of
/// the frame or throws.
public final class Frames {
  /// Template of a frame whose header is complete and of this protocol.
  ///
  /// @throws MalformedFrameException otherwise
  public static int templateId(DirectBuffer frame) {
    if (frame.capacity() < Protocol.MESSAGE_HEADER_BYTES) {
      throw new MalformedFrameException(
          "frame of " + frame.capacity() + " bytes is shorter than a header");
    }
    int schemaId = u16(frame, MessageHeaderDecoder.schemaIdEncodingOffset());
    int version = u16(frame, MessageHeaderDecoder.versionEncodingOffset());
    if (schemaId != Protocol.SCHEMA_ID || version < 1) {
      throw new MalformedFrameException("frame has schema " + schemaId + " version " + version);
    }
    return u16(frame, MessageHeaderDecoder.templateIdEncodingOffset());
  }

  /// Wraps a decoder around a frame whose header has been checked.
  ///
  /// @throws MalformedFrameException when the block is shorter than the frame's version of the message has it, or leaves the frame
  public static <D extends MessageDecoderFlyweight> D wrap(D decoder, DirectBuffer frame) {
    int blockLength = u16(frame, MessageHeaderDecoder.blockLengthEncodingOffset());
    int version = u16(frame, MessageHeaderDecoder.versionEncodingOffset());
    if (blockLength < leastBlockLength(decoder, version)
        || blockLength > frame.capacity() - Protocol.MESSAGE_HEADER_BYTES) {
      throw new MalformedFrameException(
          "block of "
              + blockLength
              + " bytes in a frame of "
              + frame.capacity()
              + " bytes, template "
              + decoder.sbeTemplateId());
    }
    decoder.wrap(frame, Protocol.MESSAGE_HEADER_BYTES, blockLength, version);
    return decoder;
  }

  /// Archives have frames of all versions, and a client of any version attaches. A message that has got a field has a case here.
  private static int leastBlockLength(MessageDecoderFlyweight decoder, int version) {
    return switch (decoder) {
      case ExecuteDecoder execute when version < ExecuteDecoder.commandSinceVersion() ->
          ExecuteDecoder.commandEncodingOffset();
      case ExecuteDecoder execute when version < ExecuteDecoder.lockTimeoutMillisSinceVersion() ->
          ExecuteDecoder.lockTimeoutMillisEncodingOffset();
      case CompletedDecoder completed
          when version < CompletedDecoder.undurableReadsSinceVersion() ->
          CompletedDecoder.undurableReadsEncodingOffset();
      case PrepareDecoder prepare when version < PrepareDecoder.sqlOffsetSinceVersion() ->
          PrepareDecoder.sqlOffsetEncodingOffset();
      case AttachedDecoder attached when version < AttachedDecoder.reservedSlotsSinceVersion() ->
          AttachedDecoder.reservedSlotsEncodingOffset();
      case AttachedDecoder attached when version < AttachedDecoder.capabilitiesSinceVersion() ->
          AttachedDecoder.capabilitiesEncodingOffset();
      case BeginTransactionDecoder begin
          when version < BeginTransactionDecoder.deferrableSinceVersion() ->
          BeginTransactionDecoder.deferrableEncodingOffset();
      case AttachDecoder attach when version < AttachDecoder.damagedQueueSinceVersion() ->
          AttachDecoder.damagedQueueEncodingOffset();
      default -> decoder.sbeBlockLength();
    };
  }

  /// Length of the variable-length field that comes next, checked against the frame. Call before each access to such a field.
  public static int nextLength(MessageDecoderFlyweight decoder, DirectBuffer frame) {
    int at = decoder.limit();
    if (at < 0 || frame.capacity() - at < Integer.BYTES) {
      throw new MalformedFrameException("frame ends before the length of a field");
    }
    int length = frame.getInt(at, java.nio.ByteOrder.LITTLE_ENDIAN);
    if (length < 0
        || length > Protocol.MAX_VAR_DATA_BYTES
        || length > frame.capacity() - at - Integer.BYTES) {
      throw new MalformedFrameException(
          "field of "
              + Integer.toUnsignedString(length)
              + " bytes leaves frame of "
              + frame.capacity()
              + " bytes");
    }
    return length;
  }

  /// Reads the text that comes next.
  ///
  /// @throws MalformedFrameException when it leaves the frame or is not UTF-8
  public static String nextText(MessageDecoderFlyweight decoder, DirectBuffer frame) {
    int length = nextLength(decoder, frame);
    int at = decoder.limit() + Integer.BYTES;
    decoder.limit(at + length);
    if (length == 0) {
      return "";
    }
    byte[] bytes = new byte[length];
    frame.getBytes(at, bytes);
    return text(bytes);
  }

  /// The text that bytes of a client are.
  ///
  /// @throws MalformedFrameException when they are not UTF-8
  public static String text(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(bytes))
          .toString();
    } catch (CharacterCodingException e) {
      throw new MalformedFrameException("text of " + bytes.length + " bytes is not UTF-8");
    }
  }

  /// Offset in the frame of the bytes that come next, which then are skipped; their length is that of [#nextLength].
  public static int skipBytes(MessageDecoderFlyweight decoder, int length) {
    int at = decoder.limit() + Integer.BYTES;
    decoder.limit(at + length);
    return at;
  }

  /// Text cut to at most `maxBytes` of UTF-8, on a character boundary.
  public static byte[] utf8(String text, int maxBytes) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= maxBytes) {
      return bytes;
    }
    int end = maxBytes;
    while (end > 0 && (bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return java.util.Arrays.copyOf(bytes, end);
  }

  private static int u16(DirectBuffer frame, int offset) {
    return frame.getShort(offset, java.nio.ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
  }

  private Frames() {}
}
