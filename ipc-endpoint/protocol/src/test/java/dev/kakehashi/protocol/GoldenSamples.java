package dev.kakehashi.protocol;

import dev.kakehashi.protocol.messages.AcquireBuffersEncoder;
import dev.kakehashi.protocol.messages.AttachEncoder;
import dev.kakehashi.protocol.messages.AttachedEncoder;
import dev.kakehashi.protocol.messages.AuthenticationChallengeEncoder;
import dev.kakehashi.protocol.messages.AuthenticationResponseEncoder;
import dev.kakehashi.protocol.messages.BeginEncoder;
import dev.kakehashi.protocol.messages.BeginTransactionEncoder;
import dev.kakehashi.protocol.messages.BuffersGrantedEncoder;
import dev.kakehashi.protocol.messages.CancelEncoder;
import dev.kakehashi.protocol.messages.CancelTransactionEncoder;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.CloseStatementEncoder;
import dev.kakehashi.protocol.messages.CommitEncoder;
import dev.kakehashi.protocol.messages.CommitPreparedEncoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.CompletedEncoder;
import dev.kakehashi.protocol.messages.ContinueTransactionEncoder;
import dev.kakehashi.protocol.messages.DirectReadEncoder;
import dev.kakehashi.protocol.messages.ExecuteEncoder;
import dev.kakehashi.protocol.messages.ExportTransactionEncoder;
import dev.kakehashi.protocol.messages.InvokeEncoder;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PingEncoder;
import dev.kakehashi.protocol.messages.PongEncoder;
import dev.kakehashi.protocol.messages.PrepareEncoder;
import dev.kakehashi.protocol.messages.PrepareTransactionEncoder;
import dev.kakehashi.protocol.messages.PreparedEncoder;
import dev.kakehashi.protocol.messages.QueryOutcomeEncoder;
import dev.kakehashi.protocol.messages.ReleaseBuffersEncoder;
import dev.kakehashi.protocol.messages.ReleaseSavepointEncoder;
import dev.kakehashi.protocol.messages.RollbackEncoder;
import dev.kakehashi.protocol.messages.RollbackPreparedEncoder;
import dev.kakehashi.protocol.messages.RollbackToSavepointEncoder;
import dev.kakehashi.protocol.messages.SavepointEncoder;
import dev.kakehashi.protocol.messages.SetApplicationNameEncoder;
import dev.kakehashi.protocol.messages.SetRoleEncoder;
import dev.kakehashi.protocol.messages.StatementKind;
import dev.kakehashi.protocol.messages.TransactionAction;
import dev.kakehashi.protocol.messages.TransactionKind;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.protocol.messages.TransactionTokenEncoder;
import dev.kakehashi.protocol.messages.ValueKind;
import dev.kakehashi.protocol.value.PgInterval;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.ToIntFunction;
import org.agrona.concurrent.UnsafeBuffer;

/// One encoding of each message that uses each field, and row batches. Frozen in `golden/v9`: never change a sample, add new ones.
final class GoldenSamples {
  private static final MessageHeaderEncoder HEADER = new MessageHeaderEncoder();

  static Map<String, byte[]> all() {
    Map<String, byte[]> all = new TreeMap<>();
    socket(all);
    transactions(all);
    statements(all);
    buffers(all);
    responses(all);
    all.put("row_batch.rows", rowBatch());
    all.put("row_batch_empty.rows", emptyRowBatch());
    return all;
  }

  private static void put(
      Map<String, byte[]> all, String name, ToIntFunction<UnsafeBuffer> encoding) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[4096]);
    int length = Protocol.MESSAGE_HEADER_BYTES + encoding.applyAsInt(buffer);
    all.put(name + ".bin", Arrays.copyOf(buffer.byteArray(), length));
  }

  private static void socket(Map<String, byte[]> all) {
    put(
        all,
        "attach",
        b ->
            new AttachEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .layoutVersion(1)
                .processId(4711)
                .processStartTicks(123456789)
                .pidNamespace(4026531836L)
                .clientKind(ClientKind.POSTGRESQL_BACKEND)
                .damagedQueue(77)
                .applicationName("psql")
                .userName("alice")
                .password("")
                .clientVersion("1.0.0 懸け橋")
                .authentication("n,,n=alice,r=rOprNGfwEbeRWgbNEkqO")
                .encodedLength());
    put(
        all,
        "attached",
        b ->
            new AttachedEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(65537)
                .incarnation(0x1234567890L)
                .mailboxOffset(524288)
                .mailboxFileBytes(1L << 29)
                .arenaFileBytes(1L << 30)
                .slotsPerMailbox(16)
                .slotBytes(32768)
                .frameOffset(1024)
                .frameAreaBytes(15360)
                .inlineOffset(16384)
                .inlineBytes(16384)
                .channelWindow(16)
                .arenaBlockBytes(65536)
                .maxBatchBytes(4194304)
                .maxFrameBytes(65536)
                .maxStatements(1024)
                .queueBlockBytes(4194304)
                .spinNanos(50000)
                .leaseNanos(900_000_000_000L)
                .reservedSlots(16)
                .queueNumber(78)
                .capabilities(0x1FFFFFFBFL)
                .computations(0x1FFFFFFBL)
                .storedTypes(0x3FFFFFL)
                .longestRowBytes(1L << 30)
                .mostTransactionBytes(1L << 40)
                .queueName("1000-4026531836-pg0")
                .principal("1000")
                .endpointVersion("1.0.0")
                .authentication("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
                .engine("pgwire")
                .encodedLength());
    put(
        all,
        "authentication_challenge",
        b ->
            new AuthenticationChallengeEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .message("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22Z,i=4096")
                .encodedLength());
    put(
        all,
        "authentication_response",
        b ->
            new AuthenticationResponseEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .message("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzb")
                .encodedLength());
  }

  private static void transactions(Map<String, byte[]> all) {
    put(
        all,
        "begin",
        b ->
            new BeginEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .kind(TransactionKind.LTX)
                .isolation(IsolationLevel.SERIALIZABLE)
                .leaseNanos(5)
                .label("nightly")
                .encodedLength());
    put(
        all,
        "begin_transaction",
        b ->
            new BeginTransactionEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .kind(TransactionKind.LTX)
                .isolation(IsolationLevel.SERIALIZABLE)
                .leaseNanos(5)
                .timeoutNanos(60_000_000_000L)
                .priority(-7)
                .deferrable((short) 1)
                .label("nightly")
                .writePreserve("orders, archive.\"Order lines\"")
                .readInclude("customers")
                .readExclude("audit")
                .encodedLength());
    put(
        all,
        "commit",
        b ->
            new CommitEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(0)
                .response(CommitResponse.AVAILABLE)
                .transactionHandle(0xFEDCBA9876543210L)
                .encodedLength());
    put(
        all,
        "rollback",
        b ->
            new RollbackEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(Protocol.NO_SLOT)
                .transactionHandle(0)
                .encodedLength());
    put(
        all,
        "savepoint",
        b ->
            new SavepointEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .level(1)
                .encodedLength());
    put(
        all,
        "release_savepoint",
        b ->
            new ReleaseSavepointEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .level(2)
                .encodedLength());
    put(
        all,
        "rollback_to_savepoint",
        b ->
            new RollbackToSavepointEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .level(3)
                .encodedLength());
    put(
        all,
        "prepare_transaction",
        b ->
            new PrepareTransactionEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .globalId("7364919283/5/981")
                .encodedLength());
    put(
        all,
        "commit_prepared",
        b ->
            new CommitPreparedEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .response(CommitResponse.STORED)
                .globalId("7364919283/5/981")
                .encodedLength());
    put(
        all,
        "rollback_prepared",
        b ->
            new RollbackPreparedEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .globalId("7364919283/5/981")
                .encodedLength());
    put(
        all,
        "query_outcome",
        b ->
            new QueryOutcomeEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .encodedLength());
    put(
        all,
        "cancel_transaction",
        b ->
            new CancelTransactionEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .encodedLength());
    put(
        all,
        "set_application_name",
        b ->
            new SetApplicationNameEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .applicationName("psql")
                .encodedLength());
    put(
        all,
        "set_role",
        b ->
            new SetRoleEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .monitors((short) 1)
                .role("clerk")
                .encodedLength());
    put(
        all,
        "export_transaction",
        b ->
            new ExportTransactionEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .transactionHandle(4)
                .encodedLength());
    put(
        all,
        "continue_transaction",
        b ->
            new ContinueTransactionEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .token("00112233445566778899aabbccddeeff")
                .encodedLength());
  }

  private static void statements(Map<String, byte[]> all) {
    put(
        all,
        "prepare",
        b -> {
          PrepareEncoder prepare =
              new PrepareEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .sessionId(1)
                  .requestId(2)
                  .slot(3)
                  .statementId(4)
                  .sqlOffset(0)
                  .sqlBytes(0);
          prepare.parameterTypesCount(2).next().typeOid(TypeOid.INT4).next().typeOid(0);
          return prepare.sql("SELECT a FROM t WHERE b = $1 AND c = $2").encodedLength();
        });
    put(
        all,
        "prepare_no_parameters",
        b -> {
          PrepareEncoder prepare =
              new PrepareEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .sessionId(1)
                  .requestId(2)
                  .slot(3)
                  .statementId(0)
                  .sqlOffset(0)
                  .sqlBytes(0);
          prepare.parameterTypesCount(0);
          return prepare.sql("").encodedLength();
        });
    put(
        all,
        "prepare_inbound",
        b -> {
          PrepareEncoder prepare =
              new PrepareEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .sessionId(1)
                  .requestId(2)
                  .slot(3)
                  .statementId(4)
                  .sqlOffset(131072)
                  .sqlBytes(110373);
          prepare.parameterTypesCount(0);
          return prepare.sql("").encodedLength();
        });
    put(
        all,
        "execute",
        b -> {
          ExecuteEncoder execute = execute(b).inboundOffset(0).inboundBytes(0);
          byte[] rows = rowBatch();
          return execute.putParameters(rows, 0, rows.length).encodedLength();
        });
    put(
        all,
        "execute_inbound",
        b ->
            execute(b)
                .inboundOffset(1L << 33)
                .inboundBytes(1 << 20)
                .putParameters(new byte[0], 0, 0)
                .encodedLength());
    put(
        all,
        "invoke",
        b -> {
          InvokeEncoder invoke =
              new InvokeEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .sessionId(1)
                  .requestId(2)
                  .slot(3)
                  .shape(0x12345678L)
                  .transactionHandle(7)
                  .leaseNanos(6_000_000_000L)
                  .inboundOffset(0)
                  .inboundBytes(0)
                  .timeoutMillis(5000)
                  .action(TransactionAction.CONTINUE)
                  .kind(TransactionKind.OCC)
                  .isolation(IsolationLevel.SERIALIZABLE)
                  .response(CommitResponse.AVAILABLE)
                  .command(8)
                  .lockTimeoutMillis(250);
          invoke.flags().clear().newSnapshot(true).commitAfter(true);
          invoke.parameterTypesCount(2).next().typeOid(20).next().typeOid(25);
          byte[] rows = rowBatch();
          return invoke.procedure("shop.place").putParameters(rows, 0, rows.length).encodedLength();
        });
    put(
        all,
        "close_statement",
        b ->
            new CloseStatementEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(Protocol.NO_SLOT)
                .statementId(4)
                .encodedLength());
    put(
        all,
        "cancel",
        b ->
            new CancelEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(Protocol.NO_SLOT)
                .targetRequestId(1)
                .encodedLength());
  }

  private static ExecuteEncoder execute(UnsafeBuffer b) {
    ExecuteEncoder execute =
        new ExecuteEncoder()
            .wrapAndApplyHeader(b, 0, HEADER)
            .sessionId(1)
            .requestId(2)
            .slot(3)
            .statementId(4)
            .transactionHandle(5)
            .leaseNanos(6)
            .timeoutMillis(7)
            .action(TransactionAction.BEGIN)
            .kind(TransactionKind.RTX)
            .isolation(IsolationLevel.REPEATABLE_READ)
            .response(CommitResponse.STORED)
            .command(8)
            .lockTimeoutMillis(250);
    execute.flags().clear().newSnapshot(true).commitAfter(true);
    return execute;
  }

  private static void buffers(Map<String, byte[]> all) {
    put(
        all,
        "acquire_buffers",
        b ->
            new AcquireBuffersEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .count(4)
                .bufferBytes(1 << 20)
                .encodedLength());
    put(
        all,
        "release_buffers",
        b ->
            new ReleaseBuffersEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .encodedLength());
    put(
        all,
        "ping",
        b ->
            new PingEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .sessionId(1)
                .requestId(2)
                .slot(3)
                .putPayload(new byte[] {1, 0, -1}, 0, 3)
                .encodedLength());
  }

  private static void responses(Map<String, byte[]> all) {
    put(
        all,
        "completed",
        b ->
            new CompletedEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .requestId(2)
                .transactionHandle(5)
                .leaseDeadlineNanos(6)
                .rowsAffected(7)
                .transactionState(TransactionState.COMMITTED)
                .undurableReads((short) 1)
                .encodedLength());
    put(
        all,
        "failed",
        b ->
            new Failure(
                        1202,
                        "23505",
                        "duplicate key value violates unique constraint \"t_pkey\"",
                        "Key (a)=(1) already exists.",
                        "",
                        "public",
                        "t",
                        "",
                        "t_pkey",
                        0,
                        false)
                    .encode(b, 2, 5, 6, TransactionState.ACTIVE)
                - Protocol.MESSAGE_HEADER_BYTES);
    put(
        all,
        "failed_fatal",
        b ->
            Failure.of(ErrorCode.SHUTTING_DOWN, "the endpoint is shutting down", "", "Try later.")
                    .asFatal()
                    .encode(b, 0, 0, 0, TransactionState.NONE)
                - Protocol.MESSAGE_HEADER_BYTES);
    put(
        all,
        "prepared",
        b -> {
          PreparedEncoder prepared =
              new PreparedEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .requestId(2)
                  .transactionHandle(0)
                  .leaseDeadlineNanos(0)
                  .statementId(4)
                  .transactionState(TransactionState.NONE)
                  .kind(StatementKind.QUERY);
          prepared.parametersCount(1).next().typeOid(TypeOid.INT8);
          prepared
              .columnsCount(2)
              .next()
              .typeOid(TypeOid.NUMERIC)
              .typeModifier(655366)
              .name("amount")
              .next()
              .typeOid(TypeOid.TEXT)
              .typeModifier(-1)
              .name("名");
          prepared.putDirectRead(new byte[] {1, 2, 3}, 0, 3);
          return prepared.encodedLength();
        });
    put(
        all,
        "direct_read",
        b -> {
          DirectReadEncoder read =
              new DirectReadEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .definitions(7)
                  .tableCell(4096)
                  .tableGeneration(2)
                  .indexCell(4160)
                  .indexGeneration(4)
                  .pageRows(512);
          DirectReadEncoder.KeysEncoder keys = read.keysCount(1);
          keys.next().parameter(0).column(1).kind(ValueKind.WORD).dictionaryCell(0);
          keys.flags().clear().nullable(true).descending(true);
          read.columnsCount(2)
              .next()
              .column(1)
              .kind(ValueKind.WORD)
              .isMissingNull((short) 1)
              .dictionaryCell(0)
              .next()
              .column(2)
              .kind(ValueKind.VARLENA)
              .isMissingNull((short) 0)
              .dictionaryCell(4224);
          return read.encodedLength();
        });
    put(
        all,
        "buffers_granted",
        b -> {
          BuffersGrantedEncoder granted =
              new BuffersGrantedEncoder()
                  .wrapAndApplyHeader(b, 0, HEADER)
                  .requestId(2)
                  .bufferBytes(1 << 20);
          granted.buffersCount(2).next().arenaOffset(0).next().arenaOffset(1 << 20);
          return granted.encodedLength();
        });
    put(
        all,
        "pong",
        b ->
            new PongEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .requestId(2)
                .putPayload(new byte[] {1, 0, -1}, 0, 3)
                .encodedLength());
    put(
        all,
        "transaction_token",
        b ->
            new TransactionTokenEncoder()
                .wrapAndApplyHeader(b, 0, HEADER)
                .requestId(2)
                .transactionHandle(5)
                .leaseDeadlineNanos(6)
                .transactionState(TransactionState.ACTIVE)
                .token("00112233445566778899aabbccddeeff")
                .encodedLength());
  }

  private static byte[] rowBatch() {
    RowBatchWriter writer = RowBatchWriter.fixed(MemorySegment.ofArray(new byte[4096]), 6, 3);
    writer.addRow();
    writer.setLong(0, -1);
    writer.setDouble(1, 0.5);
    writer.setString(2, "懸け橋");
    writer.setNumeric(3, new BigDecimal("-12345.6780"));
    writer.setUuid(4, new UUID(0x0011223344556677L, 0x8899aabbccddeeffL));
    writer.setInterval(5, new PgInterval(1, -2, 3));
    writer.addRow();
    for (int column = 0; column < 6; column++) {
      writer.setNull(column);
    }
    writer.finish();
    return writer.batch().toArray(ValueLayout.JAVA_BYTE);
  }

  private static byte[] emptyRowBatch() {
    RowBatchWriter writer = RowBatchWriter.growable(0, 0, 64);
    writer.finish();
    return writer.batch().toArray(ValueLayout.JAVA_BYTE);
  }

  /// Writes samples that have no file yet; run by hand when one is added. Existing files are never touched.
  public static void main(String[] args) throws IOException {
    Path directory = Files.createDirectories(Path.of(args[0]));
    for (Map.Entry<String, byte[]> sample : all().entrySet()) {
      Path file = directory.resolve(sample.getKey());
      if (Files.notExists(file)) {
        Files.write(file, sample.getValue(), StandardOpenOption.CREATE_NEW);
      }
    }
  }

  private GoldenSamples() {}
}
