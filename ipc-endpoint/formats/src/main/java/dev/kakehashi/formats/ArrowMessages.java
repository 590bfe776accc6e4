package dev.kakehashi.formats;

import com.google.flatbuffers.FlatBufferBuilder;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/// Makes the metadata of Arrow's messages. The result of a method holds until the next call. Not thread-safe.
public final class ArrowMessages {
  /// Codec of buffers that are not compressed; others are those of `CompressionType`.
  public static final byte NO_CODEC = -1;

  /// Where a record batch is in a file.
  ///
  /// @param metadataBytes with what comes before the metadata
  public record BatchBlock(long offset, int metadataBytes, long bodyBytes) {}

  private final FlatBufferBuilder builder = new FlatBufferBuilder(1 << 10);

  /// The message of a schema.
  ///
  /// @param metadata keys and values of the whole
  public ByteBuffer schema(List<ArrowField> fields, Map<String, String> metadata) {
    builder.clear();
    return message(MessageHeader.Schema, schemaAt(fields, metadata), 0, Map.of());
  }

  private int schemaAt(List<ArrowField> fields, Map<String, String> metadata) {
    int[] at = new int[fields.size()];
    for (int i = 0; i < at.length; i++) {
      at[i] = fields.get(i).write(builder);
    }
    int fieldsAt = Schema.createFieldsVector(builder, at);
    int metadataAt =
        metadata.isEmpty() ? 0 : Schema.createCustomMetadataVector(builder, entries(metadata));
    Schema.startSchema(builder);
    Schema.addEndianness(builder, Endianness.Little);
    Schema.addFields(builder, fieldsAt);
    if (metadataAt != 0) {
      Schema.addCustomMetadata(builder, metadataAt);
    }
    return Schema.endSchema(builder);
  }

  private int[] entries(Map<String, String> metadata) {
    return metadata.entrySet().stream()
        .mapToInt(entry -> ArrowField.keyValue(builder, entry.getKey(), entry.getValue()))
        .toArray();
  }

  private ByteBuffer message(
      byte kind, int headerAt, long bodyBytes, Map<String, String> metadata) {
    int metadataAt =
        metadata.isEmpty() ? 0 : Message.createCustomMetadataVector(builder, entries(metadata));
    Message.startMessage(builder);
    Message.addVersion(builder, MetadataVersion.V5);
    Message.addHeaderType(builder, kind);
    Message.addHeader(builder, headerAt);
    Message.addBodyLength(builder, bodyBytes);
    if (metadataAt != 0) {
      Message.addCustomMetadata(builder, metadataAt);
    }
    builder.finish(Message.endMessage(builder));
    return builder.dataBuffer();
  }

  /// The message of a record batch.
  ///
  /// @param parts fields and buffers, those compressed in the place of the others
  /// @param codec of the buffers
  /// @param metadata keys and values of the message
  public ByteBuffer recordBatch(
      int rows, ArrowParts parts, byte codec, Map<String, String> metadata) {
    builder.clear();
    long end = parts.bodyBytes();
    RecordBatch.startBuffersVector(builder, parts.bufferCount());
    for (int i = parts.bufferCount() - 1; i >= 0; i--) {
      end -= ArrowParts.padded(parts.length(i));
      Buffer.createBuffer(builder, end, parts.length(i));
    }
    int buffersAt = builder.endVector();
    RecordBatch.startNodesVector(builder, parts.fieldCount());
    for (int i = parts.fieldCount() - 1; i >= 0; i--) {
      FieldNode.createFieldNode(builder, parts.fieldLength(i), parts.fieldNulls(i));
    }
    int nodesAt = builder.endVector();
    int codecAt =
        codec == NO_CODEC
            ? 0
            : BodyCompression.createBodyCompression(builder, codec, BodyCompressionMethod.BUFFER);
    RecordBatch.startRecordBatch(builder);
    RecordBatch.addLength(builder, rows);
    RecordBatch.addNodes(builder, nodesAt);
    RecordBatch.addBuffers(builder, buffersAt);
    if (codecAt != 0) {
      RecordBatch.addCompression(builder, codecAt);
    }
    return message(
        MessageHeader.RecordBatch,
        RecordBatch.endRecordBatch(builder),
        parts.bodyBytes(),
        metadata);
  }

  /// The footer of a file.
  public ByteBuffer footer(
      List<ArrowField> fields, Map<String, String> metadata, List<BatchBlock> batches) {
    builder.clear();
    int schemaAt = schemaAt(fields, metadata);
    Footer.startDictionariesVector(builder, 0);
    int dictionariesAt = builder.endVector();
    Footer.startRecordBatchesVector(builder, batches.size());
    for (int i = batches.size() - 1; i >= 0; i--) {
      BatchBlock block = batches.get(i);
      Block.createBlock(builder, block.offset(), block.metadataBytes(), block.bodyBytes());
    }
    int batchesAt = builder.endVector();
    builder.finish(
        Footer.createFooter(builder, MetadataVersion.V5, schemaAt, dictionariesAt, batchesAt, 0));
    return builder.dataBuffer();
  }
}
