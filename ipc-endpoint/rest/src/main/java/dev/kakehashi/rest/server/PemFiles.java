package dev.kakehashi.rest.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;

/// Certificates and keys in PEM files. Stateless.
final class PemFiles {
  /// A chain with its key is some kB.
  private static final long MAX_BYTES = 1 << 20;

  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";
  private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

  private PemFiles() {}

  /// A store with the server's chain and key, under no password.
  static KeyStore identity(Path certificate, Path key)
      throws IOException, GeneralSecurityException {
    Collection<? extends Certificate> chain = certificates(certificate);
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("server", privateKey(key), new char[0], chain.toArray(Certificate[]::new));
    return store;
  }

  /// A store with certificates that sign others.
  static KeyStore authorities(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    int number = 0;
    for (Certificate certificate : certificates(file)) {
      store.setCertificateEntry("authority" + number, certificate);
      number++;
    }
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    Collection<? extends Certificate> certificates =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(read(file)));
    if (certificates.isEmpty()) {
      throw new IOException(file + " has no certificate");
    }
    return certificates;
  }

  private static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
    String text = new String(read(file), StandardCharsets.US_ASCII);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException(
          file + " has no private key in PKCS #8, not encrypted (\"" + BEGIN + "\")");
    }
    try {
      byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
      return privateKey(der);
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is not base64", e);
    }
  }

  /// The algorithm is in the key; the factories tell whether it is theirs.
  private static PrivateKey privateKey(byte[] der) throws GeneralSecurityException {
    InvalidKeySpecException failure = new InvalidKeySpecException("no known kind of key");
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (InvalidKeySpecException e) {
        failure.addSuppressed(e);
      }
    }
    throw failure;
  }

  private static byte[] read(Path file) throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException(file + " is longer than " + MAX_BYTES + " bytes");
    }
    return Files.readAllBytes(file);
  }
}
