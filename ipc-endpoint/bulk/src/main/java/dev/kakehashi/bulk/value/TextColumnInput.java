package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.ValueErrors;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/// Bytes that are UTF-8, and other values as PostgreSQL writes them, as text, varchar(n), char(n) and labels of an enum.
final class TextColumnInput extends EachInput {
  private static final int MODIFIER_BASE = 4;

  private final boolean isText;
  private final String typeName;
  private final Set<String> labels;
  private final boolean padded;

  /// Characters; -1: any number.
  private final int limit;

  private final FileText text = new FileText();

  /// @param isText whether the file's bytes are the text
  TextColumnInput(LoadColumn column, boolean isText) {
    super(column.name());
    this.isText = isText;
    this.typeName = column.typeName();
    this.labels = Set.copyOf(column.labels());
    boolean limited =
        column.typeModifier() >= MODIFIER_BASE
            && labels.isEmpty()
            && (column.typeOid() == TypeOid.VARCHAR || column.typeOid() == TypeOid.BPCHAR);
    this.limit = limited ? column.typeModifier() - MODIFIER_BASE : -1;
    this.padded = limited && column.typeOid() == TypeOid.BPCHAR;
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    if (isText) {
      return word(values.bytes(), values.starts()[index], values.lengths()[index], batch);
    }
    byte[] written = text.of(values, index);
    return word(written, 0, written.length, batch);
  }

  private long word(byte[] bytes, int start, int length, BatchFill batch) {
    boolean ascii = Utf8Check.check(bytes, start, length);
    if (!labels.isEmpty()) {
      String label = new String(bytes, start, length, StandardCharsets.UTF_8);
      if (!labels.contains(label)) {
        throw new EngineException(
            ErrorCode.INVALID_TEXT_REPRESENTATION,
            "invalid input value for enum %s: \"%s\""
                .formatted(typeName, ValueErrors.shown(label)));
      }
    }
    if (limit < 0 || (length <= limit && !padded)) {
      return batch.varlena(bytes, start, length);
    }
    int characters = ascii ? length : Utf8Check.characters(bytes, start, length);
    if (characters > limit) {
      int end = Utf8Check.offsetOf(bytes, start, length, limit);
      for (int i = end; i < start + length; i++) {
        if (bytes[i] != ' ') {
          throw new EngineException(
              ErrorCode.STRING_DATA_RIGHT_TRUNCATION, "value too long for type " + typeName);
        }
      }
      return batch.varlena(bytes, start, end - start);
    }
    if (!padded) {
      return batch.varlena(bytes, start, length);
    }
    int at = batch.varlena(length + limit - characters);
    System.arraycopy(bytes, start, batch.bytes(), at + MODIFIER_BASE, length);
    int blanks = at + MODIFIER_BASE + length;
    Arrays.fill(batch.bytes(), blanks, blanks + limit - characters, (byte) ' ');
    return at;
  }
}
