package dev.kakehashi.protocol;

/// Error codes of both languages: the table of schema/errors.txt, to which a test holds them.
public enum ErrorCode {
  SYNTAX_ERROR(1001, "42601", Category.USER, false),
  UNDEFINED_TABLE(1002, "42P01", Category.USER, false),
  UNDEFINED_COLUMN(1003, "42703", Category.USER, false),
  UNDEFINED_FUNCTION(1004, "42883", Category.USER, false),
  UNDEFINED_OBJECT(1005, "42704", Category.USER, false),
  UNDEFINED_SCHEMA(1006, "3F000", Category.USER, false),
  DUPLICATE_TABLE(1007, "42P07", Category.USER, false),
  DUPLICATE_COLUMN(1008, "42701", Category.USER, false),
  DUPLICATE_SCHEMA(1009, "42P06", Category.USER, false),
  DUPLICATE_OBJECT(1010, "42710", Category.USER, false),
  AMBIGUOUS_COLUMN(1011, "42702", Category.USER, false),
  DATATYPE_MISMATCH(1012, "42804", Category.USER, false),
  INVALID_TABLE_DEFINITION(1013, "42P16", Category.USER, false),
  GROUPING_ERROR(1014, "42803", Category.USER, false),
  FEATURE_NOT_SUPPORTED(1015, "0A000", Category.USER, false),
  DEPENDENT_OBJECTS_EXIST(1016, "2BP01", Category.USER, false),
  INVALID_PARAMETER_VALUE(1017, "22023", Category.USER, false),
  UNDEFINED_PARAMETER(1018, "42P02", Category.USER, false),
  INVALID_STATEMENT(1019, "26000", Category.USER, false),
  WRONG_OBJECT_TYPE(1020, "42809", Category.USER, false),
  AMBIGUOUS_FUNCTION(1021, "42725", Category.USER, false),
  CANNOT_COERCE(1022, "42846", Category.USER, false),
  INDETERMINATE_DATATYPE(1023, "42P18", Category.USER, false),
  INVALID_COLUMN_REFERENCE(1024, "42P10", Category.USER, false),
  WINDOWING_ERROR(1025, "42P20", Category.USER, false),
  INVALID_RECURSION(1026, "42P19", Category.USER, false),
  DUPLICATE_ALIAS(1027, "42712", Category.USER, false),
  GENERATED_ALWAYS(1028, "428C9", Category.USER, false),
  INVALID_FOREIGN_KEY(1029, "42830", Category.USER, false),
  INVALID_OBJECT_DEFINITION(1030, "42P17", Category.USER, false),
  INVALID_COLUMN_DEFINITION(1031, "42611", Category.USER, false),
  RESERVED_NAME(1032, "42939", Category.USER, false),
  DIVISION_BY_ZERO(1101, "22012", Category.USER, false),
  NUMERIC_VALUE_OUT_OF_RANGE(1102, "22003", Category.USER, false),
  INVALID_TEXT_REPRESENTATION(1103, "22P02", Category.USER, false),
  DATETIME_OVERFLOW(1104, "22008", Category.USER, false),
  INVALID_DATETIME_FORMAT(1105, "22007", Category.USER, false),
  STRING_DATA_RIGHT_TRUNCATION(1106, "22001", Category.USER, false),
  INVALID_ESCAPE_SEQUENCE(1107, "22025", Category.USER, false),
  CARDINALITY_VIOLATION(1108, "21000", Category.USER, false),
  SUBSTRING_ERROR(1109, "22011", Category.USER, false),
  INVALID_ARGUMENT_FOR_LOG(1110, "2201E", Category.USER, false),
  INVALID_ARGUMENT_FOR_POWER(1111, "2201F", Category.USER, false),
  INVALID_ROW_COUNT_IN_LIMIT(1112, "2201W", Category.USER, false),
  INVALID_ROW_COUNT_IN_OFFSET(1113, "2201X", Category.USER, false),
  CHARACTER_NOT_IN_REPERTOIRE(1114, "22021", Category.USER, false),
  INVALID_WINDOW_FRAME_SIZE(1115, "22013", Category.USER, false),
  INVALID_ARGUMENT_FOR_NTILE(1116, "22014", Category.USER, false),
  INVALID_ARGUMENT_FOR_NTH_VALUE(1117, "22016", Category.USER, false),
  NULL_VALUE_NOT_ALLOWED(1118, "22004", Category.USER, false),
  ARRAY_SUBSCRIPT_ERROR(1120, "2202E", Category.USER, false),
  INVALID_REGULAR_EXPRESSION(1121, "2201B", Category.USER, false),
  INVALID_ARGUMENT_FOR_WIDTH_BUCKET(1122, "2201G", Category.USER, false),
  SEQUENCE_LIMIT_EXCEEDED(1123, "2200H", Category.USER, false),
  UNTRANSLATABLE_CHARACTER(1124, "22P05", Category.USER, false),
  DATA_EXCEPTION(1125, "22000", Category.USER, false),
  INTERVAL_FIELD_OVERFLOW(1126, "22015", Category.USER, false),
  INVALID_TIME_ZONE_DISPLACEMENT(1127, "22009", Category.USER, false),
  BAD_COPY_FILE_FORMAT(1128, "22P04", Category.USER, false),
  INVALID_NAME(1129, "42602", Category.USER, false),
  UNDEFINED_FILE(1130, "58P01", Category.USER, false),
  DUPLICATE_FILE(1131, "58P02", Category.USER, false),
  NOT_NULL_VIOLATION(1201, "23502", Category.USER, false),
  UNIQUE_VIOLATION(1202, "23505", Category.USER, false),
  CHECK_VIOLATION(1203, "23514", Category.USER, false),
  FOREIGN_KEY_VIOLATION(1204, "23503", Category.USER, false),
  TRIGGERED_DATA_CHANGE(1205, "27000", Category.USER, false),
  SERIALIZATION_FAILURE(1301, "40001", Category.USER, true),
  DEADLOCK_DETECTED(1302, "40P01", Category.USER, true),
  TRANSACTION_ABORTED(1303, "25P02", Category.USER, false),
  NO_SUCH_TRANSACTION(1304, "25P01", Category.USER, false),
  READ_ONLY_TRANSACTION(1305, "25006", Category.USER, false),
  NO_SUCH_SAVEPOINT(1306, "3B001", Category.USER, false),
  LEASE_EXPIRED(1307, "25P03", Category.USER, true),
  ACTIVE_TRANSACTION(1308, "25001", Category.USER, false),
  LOCK_NOT_AVAILABLE(1309, "55P03", Category.USER, true),
  NOT_IN_PREREQUISITE_STATE(1310, "55000", Category.USER, false),
  OBJECT_IN_USE(1311, "55006", Category.USER, true),
  INSUFFICIENT_PRIVILEGE(1312, "42501", Category.USER, false),
  INVALID_GRANT_OPERATION(1313, "0LP01", Category.USER, false),
  UNDECLARED_TABLE(1321, "25000", Category.USER, false),
  LEASE_LOST(1323, "55K01", Category.USER, false),
  RESULT_CHANGED(1324, "55K02", Category.USER, true),
  TRANSACTION_TIMEOUT(1322, "25P04", Category.USER, true),
  IDLE_IN_TRANSACTION_TIMEOUT(1325, "25P03", Category.USER, true),
  TRANSACTION_TERMINATED(1326, "25P03", Category.USER, false),
  QUERY_CANCELED(1401, "57014", Category.USER, true),
  COMMIT_TIMEOUT(1402, "57K01", Category.CONNECTION, true),
  RAISE_EXCEPTION(1501, "P0001", Category.USER, false),
  OUT_OF_MEMORY(2001, "53200", Category.RESOURCE, true),
  DISK_FULL(2002, "53100", Category.RESOURCE, true),
  TOO_MANY_SESSIONS(2003, "53300", Category.RESOURCE, true),
  LIMIT_EXCEEDED(2004, "54000", Category.RESOURCE, false),
  OUT_OF_SLOTS(2005, "53000", Category.RESOURCE, true),
  TEMP_SPACE_EXCEEDED(2006, "53400", Category.RESOURCE, true),
  CONNECTION_FAILURE(3001, "08006", Category.CONNECTION, true),
  CANNOT_CONNECT(3002, "08001", Category.CONNECTION, true),
  SHUTTING_DOWN(3003, "57P01", Category.CONNECTION, true),
  AUTHENTICATION_FAILED(3004, "28000", Category.CONNECTION, false),
  INVALID_PASSWORD(3005, "28P01", Category.CONNECTION, false),
  TRANSACTION_RESOLUTION_UNKNOWN(3006, "08007", Category.CONNECTION, false),
  CANNOT_CONNECT_NOW(3007, "57P03", Category.CONNECTION, true),
  VERSION_MISMATCH(4001, "08P01", Category.PROTOCOL, false),
  MALFORMED_MESSAGE(4002, "08P01", Category.PROTOCOL, false),
  INTERNAL_ERROR(5001, "XX000", Category.INTERNAL, false),
  DATA_CORRUPTED(5002, "XX001", Category.INTERNAL, false),
  IO_ERROR(5003, "58030", Category.INTERNAL, false);

  /// Whose fault it is.
  public enum Category {
    USER,
    RESOURCE,
    CONNECTION,
    PROTOCOL,
    INTERNAL
  }

  private final int number;
  private final String sqlstate;
  private final Category category;
  private final boolean retryable;

  ErrorCode(int number, String sqlstate, Category category, boolean retryable) {
    this.number = number;
    this.sqlstate = sqlstate;
    this.category = category;
    this.retryable = retryable;
  }

  public int number() {
    return number;
  }

  /// Five characters.
  public String sqlstate() {
    return sqlstate;
  }

  public Category category() {
    return category;
  }

  /// Whether the same request may succeed when it is repeated.
  public boolean retryable() {
    return retryable;
  }
}
