package dev.kakehashi.requests;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// Whose a transaction is: a user's of the engine, whatever interface he comes by.
///
/// Under peer authentication a client of shared memory says by itself which user it is, and the kernel only which OS user. So the name
/// alone does not do there: a client that has an OS user names a transaction by its handle only where its own OS user has begun it, or
/// after it has shown the transaction's token ([TransactionTokens]), which nobody guesses. Interfaces that prove the name themselves need
/// it alone.
///
/// @param userName role of the engine
/// @param uid OS user that began it; [RequestClient#NO_UID]: unknown
/// @param userKey what the registry keeps of the name, see [#userKey(String)]
record TransactionOwner(String userName, int uid, long userKey) {
  /// Owner of an outcome whose owner is not known: whoever has its handle may ask.
  static final TransactionOwner ANYBODY = new TransactionOwner("", RequestClient.NO_UID, 0);

  static TransactionOwner of(String userName, int uid) {
    return new TransactionOwner(userName, uid, userKey(userName));
  }

  static TransactionOwner of(RequestClient client) {
    return of(client.userName(), client.uid());
  }

  /// The first 64 bits of the name's SHA-256; never 0.
  static long userKey(String userName) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(userName.getBytes(UTF_8));
      long key = ByteBuffer.wrap(digest).getLong();
      return key == 0 ? 1 : key;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /// Whether `other` may use it by its handle alone.
  boolean admits(TransactionOwner other) {
    return isSameUser(other) && (other.uid == RequestClient.NO_UID || other.uid == uid);
  }

  boolean isSameUser(TransactionOwner other) {
    return userName.equals(other.userName);
  }
}
