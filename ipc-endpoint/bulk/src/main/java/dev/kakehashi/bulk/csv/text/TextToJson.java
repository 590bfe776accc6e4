package dev.kakehashi.bulk.csv.text;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.JsonValues;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;

/// json, which stays as it is, and jsonb, which is written as PostgreSQL writes it.
final class TextToJson extends TextColumn {
  private static final int MAX_DEPTH = 1000;

  /// Digits of a numeric.
  private static final int MAX_NUMBER = 160_000;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER)
                  .maxStringLength(TextBatch.MAX_VALUE_BYTES)
                  .maxNameLength(TextBatch.MAX_VALUE_BYTES)
                  .build())
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .build();

  /// Bytes of a tree of values for each byte of its text, about.
  private static final long TREE_FACTOR = 16;

  private final int typeOid;
  private final BulkContext context;

  TextToJson(int typeOid, BulkContext context) {
    this.typeOid = typeOid;
    this.context = context;
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    FileUtf8.check(bytes, from, to);
    long memory = to - from > FileUtf8.SMALL_BYTES ? TREE_FACTOR * (to - from) : 0;
    context.reserveMemory(memory);
    try {
      read(bytes, from, to, batch, column);
    } finally {
      context.releaseMemory(memory);
    }
  }

  private void read(byte[] bytes, int from, int to, TextBatch batch, int column) {
    try (JsonParser parser = FACTORY.createParser(bytes, from, to - from)) {
      if (parser.nextToken() == null) {
        throw invalid(bytes, from, to, "The input string ended unexpectedly.", null);
      }
      if (typeOid == TypeOid.JSONB) {
        byte[] written = JsonValues.read(parser, typeOid, TextBatch.MAX_VALUE_BYTES);
        checkEnd(parser, bytes, from, to);
        batch.setVarlena(column, written);
      } else {
        parser.skipChildren();
        checkEnd(parser, bytes, from, to);
        int at = batch.varlena(column, to - from);
        System.arraycopy(bytes, from, batch.memory, at, to - from);
      }
    } catch (JsonProcessingException e) {
      throw invalid(bytes, from, to, e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw invalid(bytes, from, to, String.valueOf(e.getMessage()), e);
    }
  }

  private void checkEnd(JsonParser parser, byte[] bytes, int from, int to) throws IOException {
    if (parser.nextToken() != null) {
      throw invalid(bytes, from, to, "Expected end of input.", null);
    }
  }

  private EngineException invalid(
      byte[] bytes,
      int from,
      int to,
      String detail,
      @org.jspecify.annotations.Nullable IOException cause) {
    return new EngineException(
            ErrorCode.INVALID_TEXT_REPRESENTATION,
            "invalid input syntax for type %s: \"%s\""
                .formatted(TypeName.of(typeOid, -1), FileUtf8.shown(bytes, from, to)),
            cause)
        .withDetail(detail);
  }
}
