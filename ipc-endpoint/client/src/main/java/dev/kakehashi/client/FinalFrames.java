package dev.kakehashi.client;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.BuffersGrantedDecoder;
import dev.kakehashi.protocol.messages.PongDecoder;
import dev.kakehashi.protocol.messages.PreparedDecoder;
import dev.kakehashi.protocol.messages.TransactionTokenDecoder;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Reads the final frames that carry more than a state.
final class FinalFrames {
  static PreparedStatement prepared(Session session, int id, String sql, Reply reply) {
    PreparedDecoder prepared = Frames.wrap(new PreparedDecoder(), reply.frame());
    PreparedDecoder.ParametersDecoder parameters = prepared.parameters();
    int[] types = new int[parameters.count()];
    for (int i = 0; i < types.length; i++) {
      types[i] = (int) parameters.next().typeOid();
    }
    List<ResultColumn> columns = new ArrayList<>();
    for (PreparedDecoder.ColumnsDecoder column : prepared.columns()) {
      int typeOid = (int) column.typeOid();
      int typeModifier = column.typeModifier();
      byte[] name = new byte[Frames.nextLength(prepared, reply.frame())];
      column.getName(name, 0, name.length);
      columns.add(
          new ResultColumn(
              new String(name, java.nio.charset.StandardCharsets.UTF_8), typeOid, typeModifier));
    }
    byte[] ticket = new byte[Frames.nextLength(prepared, reply.frame())];
    prepared.getDirectRead(ticket, 0, ticket.length);
    return new PreparedStatement(
        session, id, sql, prepared.kind(), types, columns, session.direct().ticketed(ticket));
  }

  static byte[] pong(Reply reply) {
    PongDecoder pong = Frames.wrap(new PongDecoder(), reply.frame());
    byte[] payload = new byte[Frames.nextLength(pong, reply.frame())];
    pong.getPayload(payload, 0, payload.length);
    return payload;
  }

  static String token(Reply reply) {
    TransactionTokenDecoder token = Frames.wrap(new TransactionTokenDecoder(), reply.frame());
    return Frames.nextText(token, reply.frame());
  }

  static InboundBuffers granted(Reply reply, MemorySegment arena) {
    BuffersGrantedDecoder granted = Frames.wrap(new BuffersGrantedDecoder(), reply.frame());
    int bytes = (int) granted.bufferBytes();
    BuffersGrantedDecoder.BuffersDecoder buffers = granted.buffers();
    long[] offsets = new long[buffers.count()];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = buffers.next().arenaOffset();
      if (bytes < 0 || offsets[i] < 0 || offsets[i] > arena.byteSize() - bytes) {
        throw new MalformedFrameException("granted buffer leaves the arena");
      }
    }
    return new InboundBuffers(arena, offsets, bytes);
  }

  private FinalFrames() {}
}
