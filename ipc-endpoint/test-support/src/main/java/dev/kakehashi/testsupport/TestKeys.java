package dev.kakehashi.testsupport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// Keys and certificates of an authority that lives as long as its folder, made by the JDK's keytool. One thread.
public final class TestKeys {
  private static final char[] PASSWORD = "password".toCharArray();

  private final Path folder;
  private final Path store;

  /// Makes the authority.
  ///
  /// @param folder in which it keeps its files
  public TestKeys(Path folder) throws IOException, InterruptedException {
    this.folder = folder;
    this.store = folder.resolve("keys.p12");
    make("authority", "CN=authority", List.of("-ext", "bc:c"));
  }

  /// Makes a key with a certificate that the authority has signed.
  public void make(String alias, String name) throws IOException, InterruptedException {
    make(alias, name, List.of("-signer", "authority", "-ext", "san=dns:localhost,ip:127.0.0.1"));
  }

  private void make(String alias, String name, List<String> more)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-storepass",
                new String(PASSWORD),
                "-alias",
                alias,
                "-dname",
                name,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                "30"));
    command.addAll(more);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.log").toFile())
            .start();
    if (process.waitFor() != 0) {
      throw new IOException(Files.readString(folder.resolve("keytool.log")));
    }
  }

  private KeyStore read() throws IOException, GeneralSecurityException {
    return KeyStore.getInstance(store.toFile(), PASSWORD);
  }

  /// Writes its chain to a PEM file.
  public void writeCertificate(String alias, Path file)
      throws IOException, GeneralSecurityException {
    StringBuilder pem = new StringBuilder();
    for (Certificate certificate : read().getCertificateChain(alias)) {
      pem.append(pem("CERTIFICATE", certificate.getEncoded()));
    }
    Files.writeString(file, pem);
  }

  /// Writes its key to a PEM file.
  public void writeKey(String alias, Path file) throws IOException, GeneralSecurityException {
    Key key = read().getKey(alias, PASSWORD);
    Files.writeString(file, pem("PRIVATE KEY", key.getEncoded()));
  }

  private static String pem(String what, byte[] der) {
    String lines =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    return "-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----\n";
  }

  /// A client that trusts the authority.
  ///
  /// @param alias whose certificate it shows; empty: none
  public SSLContext client(String alias) throws IOException, GeneralSecurityException {
    KeyStore all = read();
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("authority", all.getCertificate("authority"));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, null);
    if (!alias.isEmpty()) {
      own.setKeyEntry(alias, all.getKey(alias, PASSWORD), PASSWORD, all.getCertificateChain(alias));
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(own, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }
}
