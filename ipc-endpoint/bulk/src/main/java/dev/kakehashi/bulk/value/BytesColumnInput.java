package dev.kakehashi.bulk.value;

/// Bytes as bytea.
final class BytesColumnInput extends EachInput {
  BytesColumnInput(String column) {
    super(column);
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    return batch.varlena(values.bytes(), values.starts()[index], values.lengths()[index]);
  }
}
